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
