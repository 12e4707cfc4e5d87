#include <cooperative_groups.h>

#include <random>

#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

namespace groups = cooperative_groups;

/// CUDA C++ Programming Guide, "Distributed Shared Memory": each block of a cluster has a part of
/// the bins.
__global__ void cluster_histogram(int* bins, int bin_count, int bins_per_block, const int* input,
                                  std::size_t size) {
  extern __shared__ int own_bins[];
  const auto first = static_cast<std::size_t>(groups::this_grid().thread_rank());
  groups::cluster_group cluster = groups::this_cluster();
  const unsigned rank = cluster.block_rank();
  for (int i = static_cast<int>(threadIdx.x); i < bins_per_block; i += blockDim.x) own_bins[i] = 0;
  // All blocks of the cluster run now, and have set their bins to zero.
  cluster.sync();
  for (std::size_t i = first; i < size; i += std::size_t{blockDim.x} * gridDim.x) {
    const int bin = max(min(input[i], bin_count - 1), 0);
    int* const theirs = cluster.map_shared_rank(own_bins, bin / bins_per_block);
    atomicAdd(theirs + bin % bins_per_block, 1);
  }
  // None ends before the others have used its memory.
  cluster.sync();
  int* const all = bins + rank * bins_per_block;
  for (int i = static_cast<int>(threadIdx.x); i < bins_per_block; i += blockDim.x)
    atomicAdd(&all[i], own_bins[i]);
}

__global__ void __cluster_dims__(2, 1, 1) swap_in_pairs(int* values) {
  __shared__ int own;
  groups::cluster_group cluster = groups::this_cluster();
  own = values[blockIdx.x];
  cluster.sync();
  values[blockIdx.x] = *cluster.map_shared_rank(&own, cluster.block_rank() ^ 1);
  cluster.sync();
}

/// A launch with clusters of `blocks`.
struct ClusterLaunch {
  ClusterLaunch(unsigned grid, unsigned threads, std::size_t shared_bytes, unsigned blocks) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(grid);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
};

}  // namespace

Result histogram_in_clusters(int cluster_blocks, bool is_in_graph) {
  constexpr int bin_count = 256, size = 5000;
  const int bins_per_block = bin_count / cluster_blocks;
  std::vector<int> input(size);
  std::mt19937 random(1);
  for (int& each : input) each = static_cast<int>(random() % bin_count);
  int *bins = nullptr, *numbers = nullptr;
  cudaMalloc(&bins, bin_count * sizeof(int));
  cudaMalloc(&numbers, size * sizeof(int));
  cudaMemset(bins, 0, bin_count * sizeof(int));
  cudaMemcpy(numbers, input.data(), size * sizeof(int), cudaMemcpyHostToDevice);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  if (is_in_graph) cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  ClusterLaunch launch(16, 64, static_cast<std::size_t>(bins_per_block) * sizeof(int),
                       static_cast<unsigned>(cluster_blocks));
  launch.config.stream = stream;
  cudaError_t error =
      cudaLaunchKernelEx(&launch.config, cluster_histogram, bins, bin_count, bins_per_block,
                         static_cast<const int*>(numbers), std::size_t{size});
  if (is_in_graph) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    // Changed parameters keep the clusters.
    cudaGraphNode_t node = nullptr;
    std::size_t count = 1;
    cudaGraphGetNodes(graph, &node, &count);
    cudaKernelNodeParams parameters{};
    cudaGraphKernelNodeGetParams(node, &parameters);
    parameters.gridDim = dim3(32);
    cudaGraphExecKernelNodeSetParams(executable, node, &parameters);
    cudaGraphLaunch(executable, stream);
  }
  std::vector<int> values(bin_count);
  if (error == cudaSuccess)
    error = cudaMemcpy(values.data(), bins, bin_count * sizeof(int), cudaMemcpyDeviceToHost);
  for (const int each : input) --values[static_cast<std::size_t>(each)];
  return {error, values};
}

Result swapped_in_pairs(int blocks) {
  std::vector<int> values(static_cast<std::size_t>(blocks));
  for (int i = 0; i < blocks; ++i) values[static_cast<std::size_t>(i)] = i;
  int* memory = nullptr;
  const std::size_t bytes = values.size() * sizeof(int);
  cudaMalloc(&memory, bytes);
  cudaMemcpy(memory, values.data(), bytes, cudaMemcpyHostToDevice);
  swap_in_pairs<<<static_cast<unsigned>(blocks), 1>>>(memory);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess)
    error = cudaMemcpy(values.data(), memory, bytes, cudaMemcpyDeviceToHost);
  return {error, values};
}

cudaError_t launch_pairs_as(int grid, int cluster_blocks) {
  int* memory = nullptr;
  cudaMalloc(&memory, static_cast<std::size_t>(grid) * sizeof(int));
  cudaMemset(memory, 0, static_cast<std::size_t>(grid) * sizeof(int));
  const ClusterLaunch launch(static_cast<unsigned>(grid), 1, 0,
                             static_cast<unsigned>(cluster_blocks));
  return cudaLaunchKernelEx(&launch.config, swap_in_pairs, memory);
}

cudaError_t launch_histogram_as(int grid, int cluster_blocks, bool allow_non_portable) {
  cudaFuncSetAttribute(cluster_histogram, cudaFuncAttributeNonPortableClusterSizeAllowed,
                       allow_non_portable ? 1 : 0);
  const ClusterLaunch launch(static_cast<unsigned>(grid), 64, 1024,
                             static_cast<unsigned>(cluster_blocks));
  return cudaLaunchKernelEx(&launch.config, cluster_histogram, static_cast<int*>(nullptr), 1, 1,
                            static_cast<const int*>(nullptr), std::size_t{0});
}

ClusterFacts facts_of_clusters() {
  ClusterFacts facts{};
  cudaFuncAttributes attributes{};
  cudaFuncGetAttributes(&attributes, swap_in_pairs);
  facts.required_width = attributes.requiredClusterWidth;
  facts.must_be_set = attributes.clusterDimMustBeSet;
  facts.set_again = cudaFuncSetAttribute(swap_in_pairs, cudaFuncAttributeRequiredClusterWidth, 4);
  ClusterLaunch launch(32, 1024, 0, 4);
  cudaOccupancyMaxActiveClusters(&facts.active, cluster_histogram, &launch.config);
  cudaOccupancyMaxPotentialClusterSize(&facts.portable, cluster_histogram, &launch.config);
  cudaFuncSetAttribute(cluster_histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaOccupancyMaxPotentialClusterSize(&facts.non_portable, cluster_histogram, &launch.config);
  return facts;
}

}  // namespace emulator::programs
