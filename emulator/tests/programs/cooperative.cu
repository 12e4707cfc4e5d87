#include <cooperative_groups.h>

#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

namespace groups = cooperative_groups;

__global__ void sum_of_blocks(int* numbers, int* sum) {
  const groups::grid_group grid = groups::this_grid();
  if (threadIdx.x == 0) numbers[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  grid.sync();
  if (grid.thread_rank() == 0) {
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += numbers[i];
    *sum = total;
  }
  grid.sync();
  if (threadIdx.x == 0) numbers[blockIdx.x] = *sum;
}

template <class Launch>
Result outcome_of(int blocks, Launch launch) {
  int* memory = nullptr;
  const std::size_t bytes = (static_cast<std::size_t>(blocks) + 1) * sizeof(int);
  cudaMalloc(&memory, bytes);
  cudaError_t error = launch(memory, memory + blocks);
  std::vector<int> values(static_cast<std::size_t>(blocks));
  if (error == cudaSuccess)
    error = cudaMemcpy(values.data(), memory, values.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(memory);
  if (error != cudaSuccess) values.clear();
  return {error, values};
}

}  // namespace

Result cooperative_sum(int blocks) {
  return outcome_of(blocks, [&](int* numbers, int* sum) {
    void* arguments[] = {&numbers, &sum};
    return cudaLaunchCooperativeKernel(sum_of_blocks, dim3(static_cast<unsigned>(blocks)), dim3(64),
                                       arguments);
  });
}

Result sum_without_promise(int blocks) {
  return outcome_of(blocks, [&](int* numbers, int* sum) {
    sum_of_blocks<<<static_cast<unsigned>(blocks), 64>>>(numbers, sum);
    return cudaGetLastError();
  });
}

}  // namespace emulator::programs
