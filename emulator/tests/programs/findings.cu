#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

constexpr int threads = 64;

__global__ void with_findings(int* to, int repeats) {
  __shared__ int first[threads];
  __shared__ int second[threads];
  __shared__ int never[threads];
  const int i = static_cast<int>(threadIdx.x);
  first[i] = second[i] = 0;
  __syncthreads();
  for (int k = 0; k < repeats; ++k) {
    first[i] = i + k;
    to[i] = first[threads - 1 - i];  // a race
    __syncthreads();
  }
  second[i] = i;
  to[i] += second[threads - 1 - i];  // a race
  if (repeats < 0) never[i] = i;
  __syncthreads();
  if (never[i ^ 1] > 7) to[i] += 1;  // uninitialised
  volatile int* const place = to + i;
  *place = never[i];  // uninitialised, and told here alone
  if (*place == 3) to[i] = 0;
}

__global__ void past_the_end(int* to) { to[threadIdx.x + 1] = 0; }

__global__ void correct(int* to) { to[threadIdx.x] = 5; }

}  // namespace

cudaError_t run_with_findings() {
  int* memory = nullptr;
  cudaMalloc(&memory, threads * sizeof(int));
  with_findings<<<1, threads>>>(memory, 3);
  past_the_end<<<1, threads>>>(memory);
  correct<<<1, threads>>>(memory);
  int values[threads] = {};
  const cudaError_t error = cudaMemcpy(values, memory, sizeof values, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) return error;
  cudaFree(memory);
  return values[0] == 5 && values[threads - 1] == 5 ? cudaSuccess : cudaErrorUnknown;
}

}  // namespace emulator::programs
