#include <cstdlib>

#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

constexpr int count = 8;

struct Operation {
  __device__ explicit Operation(int n) : number(n) {}
  __device__ virtual int apply(int x) const = 0;
  int number;
};

struct Product : Operation {
  using Operation::Operation;
  __device__ __noinline__ int apply(int x) const override { return x * number; }
};

struct Sum : Operation {
  using Operation::Operation;
  __device__ __noinline__ int apply(int x) const override { return x + number; }
};

__device__ int negated(int x) { return -x; }
__device__ int (*function)(int) = negated;

__global__ void apply(int* values) {
  const int i = static_cast<int>(threadIdx.x);
  const Product product(3);
  const Sum sum(3);
  const Operation* operation = i % 2 == 0 ? static_cast<const Operation*>(&product) : &sum;
  values[i] = operation->apply(i);
  values[i + count] = function(i);
}

__device__ int* lists[count];

__global__ void fill_lists() {
  auto* list = static_cast<int*>(malloc((threadIdx.x + 1) * sizeof(int)));
  lists[threadIdx.x] = list;
  if (list == nullptr) return;
  for (int i = 0; i <= static_cast<int>(threadIdx.x); ++i) list[i] = i;
}

__global__ void add_lists(int* sums) {
  int* list = lists[threadIdx.x];
  int sum = list == nullptr ? -1 : 0;
  if (list != nullptr)
    for (int i = 0; i < static_cast<int>(threadIdx.x); ++i) sum += list[i];
  sums[threadIdx.x] = sum;
  free(list);
}

__global__ void free_place(void* place) { free(place); }

Result copied(const int* numbers, int size) {
  Result result{cudaSuccess, std::vector<int>(static_cast<std::size_t>(size))};
  result.error = cudaMemcpy(result.values.data(), numbers, result.values.size() * sizeof(int),
                            cudaMemcpyDeviceToHost);
  return result;
}

}  // namespace

Result results_of_pointers() {
  int* values = nullptr;
  cudaMalloc(&values, 2 * count * sizeof(int));
  apply<<<1, count>>>(values);
  const Result result = copied(values, 2 * count);
  cudaFree(values);
  return result;
}

Result sums_in_the_heap(std::size_t heap_bytes) {
  int* sums = nullptr;
  if (heap_bytes != 0) cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap_bytes);
  cudaMalloc(&sums, count * sizeof(int));
  fill_lists<<<1, count>>>();
  add_lists<<<1, count>>>(sums);
  const Result result = copied(sums, count);
  cudaFree(sums);
  return result;
}

cudaError_t free_what_is_none() {
  void* place = nullptr;
  cudaMalloc(&place, 16);
  free_place<<<1, 1>>>(nullptr);  // which is allowed
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) return error;
  free_place<<<1, 1>>>(place);
  return cudaDeviceSynchronize();
}

}  // namespace emulator::programs
