#include <algorithm>
#include <cstring>

#include "emulator/runtime/cluster_launch.h"
#include "emulator/runtime/functions.h"
#include "emulator/runtime/limits.h"

using namespace emulator;

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* symbol) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    std::shared_ptr<Function> function;
    if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
    const KernelFacts& facts = function->code->program->facts(function->name);
    const GpuModel& gpu = p.devices.model(current_gpu(p));
    std::memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = facts.static_shared_bytes;
    attributes->constSizeBytes = facts.constant_bytes;
    attributes->localSizeBytes = facts.local_bytes;
    attributes->maxThreadsPerBlock = facts.max_threads > 0
                                         ? std::min<int>(facts.max_threads, max_threads_per_block)
                                         : static_cast<int>(max_threads_per_block);
    attributes->numRegs = facts.registers;
    attributes->ptxVersion = function->code->architecture;
    attributes->binaryVersion = 10 * gpu.major + gpu.minor;  // compiled for this GPU when loaded
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(max_dynamic_shared_bytes(*function, facts, gpu));
    attributes->preferredShmemCarveout = -1;  // the default
    const Dim3 cluster = required_cluster(*function, facts);
    attributes->clusterDimMustBeSet = facts.needs_cluster ? 1 : 0;
    attributes->requiredClusterWidth = static_cast<int>(cluster.x);
    attributes->requiredClusterHeight = static_cast<int>(cluster.y);
    attributes->requiredClusterDepth = static_cast<int>(cluster.z);
    attributes->nonPortableClusterSizeAllowed = function->allows_non_portable_clusters ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* symbol) {
  return call(Wants::context, [&](Process& p, Lock&) {
    std::shared_ptr<Function> function;
    if (name == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
    *name = function->name.c_str();  // lives as long as its module is registered
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* symbol, std::size_t index, std::size_t* offset,
                                 std::size_t* bytes) {
  return call(Wants::context, [&](Process& p, Lock&) {
    std::shared_ptr<Function> function;
    if (offset == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
    const auto parameters = function->code->program->parameters(function->name);
    if (index >= parameters.size()) return cudaErrorInvalidValue;
    *offset = parameters[index].offset;
    if (bytes != nullptr) *bytes = parameters[index].bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* symbol, cudaFuncAttribute attribute, int value) {
  return call(Wants::context, [&](Process& p, Lock&) {
    std::shared_ptr<Function> function;
    if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
    const KernelFacts& facts = function->code->program->facts(function->name);
    const GpuModel& gpu = p.devices.model(current_gpu(p));
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;  // a hint
    }
    if (attribute >= cudaFuncAttributeClusterDimMustBeSet)
      return set_cluster_attribute(*function, facts, attribute, value);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        static_cast<std::size_t>(value) + facts.static_shared_bytes >
            gpu.shared_bytes_per_block_optin) {
      return cudaErrorInvalidValue;
    }
    function->max_dynamic_shared_bytes[current_device()] = static_cast<std::size_t>(value);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* symbol,
                                                                   int block_size,
                                                                   std::size_t dynamic_shared_bytes,
                                                                   unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (blocks == nullptr || block_size <= 0 ||
        (flags & ~unsigned{cudaOccupancyDisableCachingOverride}) != 0) {
      return cudaErrorInvalidValue;
    }
    std::shared_ptr<Function> function;
    if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
    const KernelFacts& facts = function->code->program->facts(function->name);
    const GpuModel& gpu = p.devices.model(current_gpu(p));
    const dim3 block(static_cast<unsigned>(block_size));
    const LaunchShape shape{dim3(1), block, dynamic_shared_bytes,
                            max_dynamic_shared_bytes(*function, facts, gpu)};
    // A block that could not be launched is nowhere resident.
    *blocks = check_limits(shape, facts, gpu) != cudaSuccess
                  ? 0
                  : resident_blocks(static_cast<std::size_t>(block_size), dynamic_shared_bytes,
                                    facts, gpu);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* symbol,
                                                          int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, symbol, block_size, dynamic_shared_bytes, cudaOccupancyDefault);
}

/// The most dynamic shared memory with which so many blocks are still resident.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* symbol,
                                                      int blocks, int block_size) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) return cudaErrorInvalidValue;
    std::shared_ptr<Function> function;
    if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
    const KernelFacts& facts = function->code->program->facts(function->name);
    const GpuModel& gpu = p.devices.model(current_gpu(p));
    const auto are_resident = [&](std::size_t dynamic) {
      return resident_blocks(static_cast<std::size_t>(block_size), dynamic, facts, gpu) >= blocks;
    };
    if (!are_resident(0)) return cudaErrorInvalidValue;
    std::size_t least = 0,
                most = gpu.shared_bytes_per_block_optin -
                       std::min(gpu.shared_bytes_per_block_optin, facts.static_shared_bytes);
    while (least < most) {
      const std::size_t middle = least + (most - least + 1) / 2;
      if (are_resident(middle)) {
        least = middle;
      } else {
        most = middle - 1;
      }
    }
    *bytes = least;
    return cudaSuccess;
  });
}
