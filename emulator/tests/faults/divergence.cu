// Barriers that not all threads reach, masks that lie, and threads that wait for ever.

// Lanes of one warp wait at different barriers.
extern "C" __global__ void barrier_in_half_a_warp(int* out) {
  __shared__ int place[64];
  const unsigned t = threadIdx.x;
  place[t] = 1;
  if (t < 48) {
    __syncthreads();
    place[t] = 2;
  }
  __syncthreads();
  out[t] = place[63 - t];
}

extern "C" __global__ void barrier_for_all(int* out) {
  __shared__ int place[64];
  const unsigned t = threadIdx.x;
  place[t] = 1;
  __syncthreads();
  if (t < 48) place[t] = 2;
  __syncthreads();
  out[t] = place[63 - t];
}

// The trip count differs between lanes.
extern "C" __global__ void barrier_in_a_loop(int* out, int spread) {
  int sum = 0;
  const int trips = 2 + static_cast<int>(threadIdx.x) % spread;
  for (int i = 0; i < trips; ++i) {
    sum += i;
    __syncthreads();
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}

extern "C" __global__ void shuffle_with_absent_lanes(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 16) value = __shfl_down_sync(0xFFFFFFFFu, value, 1);
  __syncthreads();
  out[threadIdx.x] = value;
}

extern "C" __global__ void shuffle_with_present_lanes(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 16) value = __shfl_down_sync(0x0000FFFFu, value, 1, 16);
  __syncthreads();
  out[threadIdx.x] = value;
}

// Lane 15 takes the value of lane 16, which does not take part.
template <bool uses>
__device__ void shuffle_from_an_absent_lane(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 16) {
    const int other = __shfl_down_sync(0x0000FFFFu, value, 1);
    if (uses || threadIdx.x != 15) value = other;
  }
  __syncthreads();
  out[threadIdx.x] = value;
}
extern "C" __global__ void absent_value_used(int* out) { shuffle_from_an_absent_lane<true>(out); }
extern "C" __global__ void absent_value_dropped(int* out) {
  shuffle_from_an_absent_lane<false>(out);
}

// The mask leaves out the lane that executes.
extern "C" __global__ void shuffle_without_oneself(int* out) {
  out[threadIdx.x] = __shfl_xor_sync(0x0000FFFFu, static_cast<int>(threadIdx.x), 1);
}

extern "C" __global__ void syncwarp_with_absent_lanes(int* out) {
  if (threadIdx.x % 2 == 0) __syncwarp(0xFFFFFFFFu);
  __syncthreads();
  out[threadIdx.x] = 1;
}

// Each warp waits for the other at a barrier of its own.
extern "C" __global__ void crossed_barriers(int* out, int crossed) {
  const bool first = threadIdx.x < 32;
  if (first || crossed == 0) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
  out[threadIdx.x] = 1;
}

// All blocks wait for a flag that block 0 sets.
extern "C" __global__ void wait_for_flag(volatile int* flag, int* out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *flag = 1;
  while (*flag == 0) {
  }
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}
