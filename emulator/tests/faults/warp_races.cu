// Warps of one block that use the same global memory without order between them.

template <bool barrier>
__device__ void reverse(int* data) {
  const unsigned i = threadIdx.x;
  data[i] = static_cast<int>(i);
  if (barrier) __syncthreads();
  const int other = data[blockDim.x - 1 - i];
  if (barrier) __syncthreads();
  data[i] = other;
}
extern "C" __global__ void reverse_with_barrier(int* data) { reverse<true>(data); }
extern "C" __global__ void reverse_without_barrier(int* data) { reverse<false>(data); }

// Reads first, writes without waiting for the others' reads.
extern "C" __global__ void shift_without_barrier(int* data) {
  const unsigned i = threadIdx.x;
  const int next = data[(i + 32) % blockDim.x];
  data[i] = next;
}
extern "C" __global__ void shift_with_barrier(int* data) {
  const unsigned i = threadIdx.x;
  const int next = data[(i + 32) % blockDim.x];
  __syncthreads();
  data[i] = next;
}

// The first warp hands its results to the second one.
template <int order>
__device__ void hand_over(int* data, volatile int* flag) {
  __shared__ int shared_flag;
  if (threadIdx.x == 0) shared_flag = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    data[lane] = 7;
    if (order == 1) {  // a flag in global memory
      __threadfence();
      __syncwarp();
      if (lane == 0) *flag = 1;
    } else if (order == 2) {  // a flag in shared memory
      __threadfence_block();
      __syncwarp();
      if (lane == 0) *static_cast<volatile int*>(&shared_flag) = 1;
    } else if (order == 3) {  // a barrier of both
      asm volatile("bar.sync 1, 64;" ::: "memory");
    }
  } else if (threadIdx.x < 64) {
    if (order == 1)
      while (*flag == 0) {
      }
    if (order == 2)
      while (*static_cast<volatile int*>(&shared_flag) == 0) {
      }
    if (order == 1) __threadfence();
    if (order == 2) __threadfence_block();
    if (order == 3) asm volatile("bar.sync 1, 64;" ::: "memory");
    data[lane] = data[lane] + 1;
  }
}
extern "C" __global__ void hand_over_without_order(int* data, int* flag) {
  hand_over<0>(data, flag);
}
extern "C" __global__ void hand_over_by_global_flag(int* data, int* flag) {
  hand_over<1>(data, flag);
}
extern "C" __global__ void hand_over_by_shared_flag(int* data, int* flag) {
  hand_over<2>(data, flag);
}
extern "C" __global__ void hand_over_by_barrier(int* data, int* flag) { hand_over<3>(data, flag); }

// All write the same, or count.
extern "C" __global__ void raise_flag(int* flag) { *flag = 1; }
extern "C" __global__ void count_atomically(int* counter) { atomicAdd(counter, 1); }
extern "C" __global__ void count_plainly(int* counter) { ++*counter; }
