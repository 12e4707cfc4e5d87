#include <numeric>

#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

constexpr int count = 8;
__constant__ int factors[count];
__device__ int sums[count];

__global__ void add_multiples(const int* numbers, std::size_t pitch) {
  const auto row =
      reinterpret_cast<const int*>(reinterpret_cast<const char*>(numbers) + threadIdx.x * pitch);
  sums[threadIdx.x] += factors[threadIdx.x] * (row[0] + row[1]);
}

__device__ int calls = 7;

__global__ void count_call() { ++calls; }

}  // namespace

int count_calls() {
  int count = 0;
  count_call<<<1, 1>>>();
  cudaMemcpyFromSymbol(&count, calls, sizeof count);
  return count;
}

Result sums_of_variables() {
  int *pinned = nullptr, *rows = nullptr, *same = nullptr;
  std::size_t pitch = 0, bytes = 0;
  void* address = nullptr;
  const std::vector<int> zeros(count);
  std::vector<int> values(count), rows_of_two(2 * count, 1);
  cudaMallocHost(&pinned, count * sizeof(int));
  std::iota(pinned, pinned + count, 0);
  // All but the first factor by a stream, from pinned memory.
  cudaMemcpyToSymbol(factors, zeros.data(), count * sizeof(int));
  cudaMemcpyToSymbolAsync(factors, pinned + 1, (count - 1) * sizeof(int), sizeof(int),
                          cudaMemcpyHostToDevice, nullptr);
  cudaGetSymbolSize(&bytes, sums);
  cudaGetSymbolAddress(&address, sums);
  cudaMemset(address, 0, bytes);
  cudaMallocPitch(&rows, &pitch, 2 * sizeof(int), count);
  cudaMemcpy2D(rows, pitch, rows_of_two.data(), 2 * sizeof(int), 2 * sizeof(int), count,
               cudaMemcpyHostToDevice);
  cudaMemset2D(rows, pitch, 0, sizeof(int), count / 2);  // the first number of the first rows
  cudaHostGetDevicePointer(&same, pinned, 0);
  add_multiples<<<1, count>>>(rows, pitch);
  const cudaError_t error = cudaMemcpyFromSymbol(values.data(), sums, bytes);
  const bool is_same = same == pinned;
  cudaFree(rows);
  cudaFreeHost(pinned);
  return {is_same ? error : cudaErrorUnknown, values};
}

cudaError_t copy_past_a_variable() {
  const std::vector<int> values(count);
  return cudaMemcpyToSymbol(factors, values.data(), count * sizeof(int), sizeof(int));
}

}  // namespace emulator::programs
