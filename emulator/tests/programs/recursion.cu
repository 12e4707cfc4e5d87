#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void fibonacci_of(int n, int* out) { *out = fibonacci(n); }

}  // namespace

Result recursive_fibonacci(int index, std::size_t stack_bytes) {
  int *result = nullptr, value = 0;
  std::size_t before = 0;
  cudaDeviceGetLimit(&before, cudaLimitStackSize);
  if (stack_bytes != 0) cudaDeviceSetLimit(cudaLimitStackSize, stack_bytes);
  cudaMalloc(&result, sizeof(int));
  fibonacci_of<<<1, 1>>>(index, result);
  const cudaError_t error = cudaMemcpy(&value, result, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(result);
  cudaDeviceSetLimit(cudaLimitStackSize, before);
  if (error != cudaSuccess) return {error, {}};
  return {error, {value}};
}

}  // namespace emulator::programs
