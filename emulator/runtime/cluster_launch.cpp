#include "emulator/runtime/cluster_launch.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "emulator/runtime/limits.h"

namespace emulator {
namespace {

std::uint64_t blocks_of(const Dim3& cluster) {
  return std::uint64_t{cluster.x} * cluster.y * cluster.z;
}

bool is_none(const Dim3& cluster) { return cluster.x == 0 && cluster.y == 0 && cluster.z == 0; }

unsigned max_blocks(const Function& function, const KernelFacts& facts) {
  const unsigned most = function.allows_non_portable_clusters ? max_cluster : max_portable_cluster;
  return facts.max_cluster_blocks == 0 ? most : std::min(most, facts.max_cluster_blocks);
}

std::optional<dim3> asked_cluster(const cudaLaunchConfig_t& config) {
  for (const cudaLaunchAttribute& each : std::span(config.attrs, config.numAttrs))
    if (each.id == cudaLaunchAttributeClusterDimension)
      return dim3(each.val.clusterDim.x, each.val.clusterDim.y, each.val.clusterDim.z);
  return std::nullopt;
}

/// Blocks of a kernel that the GPU holds at once.
std::uint64_t all_resident(const cudaLaunchConfig_t& config, const KernelFacts& facts,
                           const GpuModel& gpu) {
  const dim3& block = config.blockDim;
  return static_cast<std::uint64_t>(gpu.multiprocessors) *
         static_cast<std::uint64_t>(resident_blocks(std::size_t{block.x} * block.y * block.z,
                                                    config.dynamicSmemBytes, facts, gpu));
}

/// Calls `body(function, facts, gpu)` for a block that could be launched.
template <class Body>
cudaError_t with_launchable(const void* symbol, const cudaLaunchConfig_t* config, const int* result,
                            const Body& body) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (config == nullptr || result == nullptr) return cudaErrorInvalidValue;
    std::shared_ptr<Function> function;
    if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
    const KernelFacts& facts = function->code->program->facts(function->name);
    const GpuModel& gpu = p.devices.model(current_gpu(p));
    const LaunchShape shape{dim3(1), config->blockDim, config->dynamicSmemBytes,
                            max_dynamic_shared_bytes(*function, facts, gpu)};
    if (const cudaError_t e = check_limits(shape, facts, gpu); e != cudaSuccess) return e;
    return body(*function, facts, gpu);
  });
}

}  // namespace

Dim3 required_cluster(const Function& function, const KernelFacts& facts) {
  const auto& required =
      facts.required_cluster[0] != 0 ? facts.required_cluster : function.required_cluster;
  return {required[0], required[1], required[2]};
}

cudaError_t choose_cluster(const Function& function, const KernelFacts& facts, const GpuModel& gpu,
                           const dim3& grid, const std::optional<dim3>& asked, Dim3& cluster) {
  cluster = required_cluster(function, facts);
  if (asked) {
    const Dim3 wanted{asked->x, asked->y, asked->z};
    if (!is_none(cluster) &&
        (wanted.x != cluster.x || wanted.y != cluster.y || wanted.z != cluster.z))
      return cudaErrorInvalidClusterSize;
    cluster = wanted;
    if (blocks_of(cluster) == 0) return cudaErrorInvalidClusterSize;
  }
  if (is_none(cluster)) return facts.needs_cluster ? cudaErrorInvalidClusterSize : cudaSuccess;
  if (gpu.major < 9) return cudaErrorNotSupported;
  if (blocks_of(cluster) == 0 || blocks_of(cluster) > max_blocks(function, facts))
    return cudaErrorInvalidClusterSize;
  const bool divides =
      grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
  return divides ? cudaSuccess : cudaErrorInvalidClusterSize;
}

cudaError_t set_cluster_attribute(Function& function, const KernelFacts& facts,
                                  cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
      if (facts.required_cluster[0] != 0) return cudaErrorNotPermitted;
      if (value < 0) return cudaErrorInvalidValue;
      function.required_cluster[static_cast<std::size_t>(
          attribute - cudaFuncAttributeRequiredClusterWidth)] = static_cast<unsigned>(value);
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      function.allows_non_portable_clusters = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:  // a hint
      return value >= cudaClusterSchedulingPolicyDefault &&
                     value <= cudaClusterSchedulingPolicyLoadBalancing
                 ? cudaSuccess
                 : cudaErrorInvalidValue;
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace emulator

using namespace emulator;

/// An upper bound: which multiprocessors a cluster can share is not documented.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* symbol,
                                           const cudaLaunchConfig_t* config) {
  return with_launchable(
      symbol, config, clusters,
      [&](const Function& function, const KernelFacts& facts, const GpuModel& gpu) {
        Dim3 cluster;
        const cudaError_t error =
            choose_cluster(function, facts, gpu, config->gridDim, asked_cluster(*config), cluster);
        if (error != cudaSuccess) return error;
        if (is_none(cluster)) return cudaErrorInvalidClusterSize;
        *clusters = static_cast<int>(all_resident(*config, facts, gpu) / blocks_of(cluster));
        return cudaSuccess;
      });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* symbol,
                                                 const cudaLaunchConfig_t* config) {
  return with_launchable(
      symbol, config, blocks,
      [&](const Function& function, const KernelFacts& facts, const GpuModel& gpu) {
        if (gpu.major < 9) return cudaErrorNotSupported;
        const Dim3 required = required_cluster(function, facts);
        *blocks = static_cast<int>(
            !is_none(required) ? blocks_of(required)
                               : std::min<std::uint64_t>(max_blocks(function, facts),
                                                         all_resident(*config, facts, gpu)));
        return cudaSuccess;
      });
}
