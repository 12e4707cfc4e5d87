#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

constexpr int threads = 64;

__global__ void fill_all(int* memory, int value) {
  memory[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add_one(int* to, const int* from) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] + 1;
}

__global__ void count_all(int* counter) { atomicAdd(counter, 1); }

__global__ void fill_and_tell(int* memory, int* flag) {
  memory[threadIdx.x] = 1;
  __syncthreads();
  __threadfence_system();
  if (threadIdx.x == 0) *static_cast<volatile int*>(flag) = 1;
}

__global__ void fill_and_release(int* memory, int* flag) {
  memory[threadIdx.x] = 1;
  __syncthreads();
  __threadfence();
  if (threadIdx.x == 0) atomicExch(flag, 1);
}

__global__ void add_if_told(int* to, const int* from, int* flag) {
  __shared__ bool is_told;
  if (threadIdx.x == 0) is_told = atomicAdd(flag, 0) != 0;
  __threadfence();
  __syncthreads();
  if (!is_told) return;
  to[threadIdx.x] = from[threadIdx.x] + 1;
}

constexpr unsigned blocks = stream_elements / threads;

}  // namespace

void fill(int* memory, int value, cudaStream_t stream) {
  fill_all<<<blocks, threads, 0, stream>>>(memory, value);
}
void increase(int* to, const int* from, cudaStream_t stream) {
  add_one<<<blocks, threads, 0, stream>>>(to, from);
}
void count_up(int* counter, cudaStream_t stream) {
  count_all<<<blocks, threads, 0, stream>>>(counter);
}
void tell_host(int* memory, int* flag, cudaStream_t stream) {
  fill_and_tell<<<1, threads, 0, stream>>>(memory, flag);
}
void tell_kernel(int* memory, int* flag, cudaStream_t stream) {
  fill_and_release<<<1, threads, 0, stream>>>(memory, flag);
}
void add_if_kernel_told(int* to, const int* from, int* flag, cudaStream_t stream) {
  add_if_told<<<1, threads, 0, stream>>>(to, from, flag);
}

}  // namespace emulator::programs
