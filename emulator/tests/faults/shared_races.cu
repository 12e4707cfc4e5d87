// Threads of one block that use the same shared memory without order between them.

// Nothing may move or cache memory accesses across this; it orders nothing between threads.
__device__ void compiler_only() { asm volatile("" ::: "memory"); }

template <bool barrier>
__device__ void reverse(int* out) {
  __shared__ int place[256];
  const unsigned t = threadIdx.x, n = blockDim.x;
  place[t] = 0;  // or the read would be one of nothing written
  __syncthreads();
  place[t] = static_cast<int>(t);
  if (barrier) {
    __syncthreads();
  } else {
    compiler_only();
  }
  out[blockIdx.x * n + t] = place[n - 1 - t];
}

extern "C" __global__ void reverse_without_barrier(int* out) { reverse<false>(out); }
extern "C" __global__ void reverse_with_barrier(int* out) { reverse<true>(out); }

// The second round writes while slow threads still read the first.
template <bool barrier>
__device__ void rotate_twice(int* out) {
  __shared__ int place[128];
  const unsigned t = threadIdx.x, n = blockDim.x;
  int value = static_cast<int>(t);
  for (int round = 0; round < 2; ++round) {
    place[t] = value;
    __syncthreads();
    value = place[(t + 33) % n];
    if (barrier) {
      __syncthreads();
    } else {
      compiler_only();
    }
  }
  out[t] = value;
}

extern "C" __global__ void rotate_without_second_barrier(int* out) { rotate_twice<false>(out); }
extern "C" __global__ void rotate_with_second_barrier(int* out) { rotate_twice<true>(out); }

extern "C" __global__ void all_write_one(int* out) {
  __shared__ int place;
  place = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = place;
}

extern "C" __global__ void one_writes_one(int* out) {
  __shared__ int place;
  if (threadIdx.x == 5) place = 5;
  __syncthreads();
  out[threadIdx.x] = place;
}

// Reduction in a warp as it was written when lanes ran in lockstep.
template <bool barrier>
__device__ void warp_sum(const int* in, int* out) {
  __shared__ int place[32];
  const unsigned t = threadIdx.x;
  place[t] = in[t];
  for (unsigned step = 16; step > 0; step /= 2) {
    if (barrier) {
      __syncwarp();
    } else {
      compiler_only();
    }
    const int other = place[(t + step) % 32];
    if (barrier) {
      __syncwarp();
    } else {
      compiler_only();
    }
    place[t] += other;
  }
  if (t == 0) *out = place[0];
}

extern "C" __global__ void warp_sum_without_syncwarp(const int* in, int* out) {
  warp_sum<false>(in, out);
}
extern "C" __global__ void warp_sum_with_syncwarp(const int* in, int* out) {
  warp_sum<true>(in, out);
}

// An increment that is no atomic, of counters that several threads share.
extern "C" __global__ void plain_histogram(const unsigned* in, int* out) {
  __shared__ int counts[8];
  if (threadIdx.x < 8) counts[threadIdx.x] = 0;
  __syncthreads();
  ++counts[in[threadIdx.x] % 8];
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = counts[threadIdx.x];
}

extern "C" __global__ void atomic_histogram(const unsigned* in, int* out) {
  __shared__ int counts[8];
  if (threadIdx.x < 8) counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[in[threadIdx.x] % 8], 1);
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = counts[threadIdx.x];
}

// The sum is read before all have added to it.
template <bool barrier>
__device__ void atomic_sum(const unsigned* in, int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, static_cast<int>(in[threadIdx.x]));
  if (barrier) {
    __syncthreads();
  } else {
    compiler_only();
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void atomic_sum_without_barrier(const unsigned* in, int* out) {
  atomic_sum<false>(in, out);
}
extern "C" __global__ void atomic_sum_with_barrier(const unsigned* in, int* out) {
  atomic_sum<true>(in, out);
}

// Neighbours of 8 and 16 bits lie in one word. `theirs`: a thread changes its neighbour's.
template <class T, bool theirs>
__device__ void change_in_place(int* out) {
  __shared__ T place[128];
  const unsigned t = threadIdx.x, other = theirs ? t ^ 1 : t;
  place[t] = static_cast<T>(t);
  __syncthreads();
  const T value = place[t];
  place[other] = static_cast<T>(value + 1);
  __syncthreads();
  out[t] = place[t];
}

extern "C" __global__ void own_bytes(int* out) { change_in_place<unsigned char, false>(out); }
extern "C" __global__ void own_halves(int* out) { change_in_place<short, false>(out); }
extern "C" __global__ void other_bytes(int* out) { change_in_place<unsigned char, true>(out); }
extern "C" __global__ void other_halves(int* out) { change_in_place<short, true>(out); }

// Two halves that a thread each writes are read as one word.
template <bool barrier>
__device__ void word_of_halves(int* out) {
  __shared__ __align__(4) short place[128];
  const unsigned t = threadIdx.x;
  place[t] = 0;  // or the read would be one of nothing written
  __syncthreads();
  place[t] = static_cast<short>(t);
  if (barrier) {
    __syncthreads();
  } else {
    compiler_only();
  }
  if (t < 64) out[t] = reinterpret_cast<int*>(place)[t];
}

extern "C" __global__ void word_of_halves_with_barrier(int* out) { word_of_halves<true>(out); }
extern "C" __global__ void word_of_halves_without_barrier(int* out) { word_of_halves<false>(out); }

// The programming guide's own loop for an atomic operation that the hardware lacks.
__device__ float shared_max(float* at, float value) {
  int* place = reinterpret_cast<int*>(at);
  int old = *place, seen;
  do {
    seen = old;
    old = atomicCAS(place, seen, __float_as_int(fmaxf(value, __int_as_float(seen))));
  } while (seen != old);
  return __int_as_float(old);
}

extern "C" __global__ void swap_in_a_loop(int* out) {
  __shared__ float largest;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  shared_max(&largest, static_cast<float>(threadIdx.x * 37 % 101));
  __syncthreads();
  if (threadIdx.x == 0) *out = static_cast<int>(largest);
}

// What the read is compared with lies elsewhere.
extern "C" __global__ void swap_of_another(int* out) {
  __shared__ int places[2];
  if (threadIdx.x < 2) places[threadIdx.x] = 0;
  __syncthreads();
  const int seen = places[1];
  atomicCAS(&places[0], seen, static_cast<int>(threadIdx.x));
  atomicAdd(&places[1], 1);
  out[threadIdx.x] = seen;
}
