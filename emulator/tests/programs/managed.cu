#include <numeric>

#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

constexpr int count = 100;
__managed__ int total = 5;
__managed__ int parts[count];
__device__ __managed__ int* pointed = nullptr;

__global__ void double_all(int* numbers) { numbers[threadIdx.x] *= 2; }

__global__ void sum_up(int factor) {
  for (int i = 0; i < count; ++i) total += factor * parts[i];
  *pointed = total;
}

__global__ void race(int* number) { *number = static_cast<int>(blockIdx.x); }

__global__ void copy_all(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }

__global__ void count_positive(int* counter, const int* numbers) {
  if (numbers[threadIdx.x] > 0) atomicAdd(counter, 1);
}

std::vector<int> values_of(const int* numbers, int size) {
  return std::vector<int>(numbers, numbers + size);
}

}  // namespace

Result managed_numbers() {
  int* numbers = nullptr;
  cudaMallocManaged(&numbers, count * sizeof(int));
  std::iota(numbers, numbers + count, 0);
  double_all<<<1, count>>>(numbers);
  cudaDeviceSynchronize();
  numbers[0] = 1;
  double_all<<<1, count>>>(numbers);
  const cudaError_t error = cudaDeviceSynchronize();
  const Result result{error, values_of(numbers, 3)};
  cudaFree(numbers);
  return result;
}

Result managed_variables(bool kernel_is_first) {
  int *number = nullptr, *address = nullptr;
  cudaMallocManaged(&number, sizeof(int));
  if (!kernel_is_first) {
    pointed = number;
    for (int i = 0; i < count; ++i) parts[i] = i;
  } else {
    // The module is loaded by a copy to a variable.
    const std::vector<int> sent = [] {
      std::vector<int> made(count);
      std::iota(made.begin(), made.end(), 0);
      return made;
    }();
    cudaMemcpyToSymbol(pointed, &number, sizeof number);
    cudaMemcpyToSymbol(parts, sent.data(), count * sizeof(int));
  }
  sum_up<<<1, 1>>>(2);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaGetSymbolAddress(reinterpret_cast<void**>(&address), total);
  return {error, {total, *number, address == &total}};
}

cudaError_t race_in_managed_memory() {
  int* number = nullptr;
  cudaMallocManaged(&number, sizeof(int));
  race<<<4, 32>>>(number);
  return cudaDeviceSynchronize();
}

cudaError_t write_past_managed_memory() {
  int* numbers = nullptr;
  cudaMallocManaged(&numbers, 8 * sizeof(int));
  double_all<<<1, 9>>>(numbers);
  return cudaDeviceSynchronize();
}

Result managed_numbers_of_the_host() {
  int *numbers = nullptr, *unwritten = nullptr, *counter = nullptr;
  cudaMallocManaged(&numbers, 32 * sizeof(int));
  cudaMallocManaged(&counter, sizeof(int));
  cudaMalloc(&unwritten, 32 * sizeof(int));
  // Marks of bytes that nothing has written do not get into managed memory.
  copy_all<<<1, 32>>>(numbers, unwritten);
  cudaMemcpy(numbers, unwritten, 16 * sizeof(int), cudaMemcpyDefault);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) numbers[i] = i % 2;
  count_positive<<<1, 32>>>(counter, numbers);
  const cudaError_t error = cudaDeviceSynchronize();
  return {error, {*counter}};
}

}  // namespace emulator::programs
