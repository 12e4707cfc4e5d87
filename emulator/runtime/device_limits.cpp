#include <algorithm>
#include <optional>

#include "emulator/runtime/limits.h"
#include "emulator/runtime/process.h"

namespace emulator {
namespace {

constexpr std::size_t max_stack_bytes = 512 << 10;  // local memory of a thread

/// What a limit is unless it is set. None: it is not emulated.
std::optional<std::size_t> default_of(cudaLimit limit) {
  switch (limit) {
    // Hints for the second-level cache, which is not emulated.
    case cudaLimitMaxL2FetchGranularity:
      return 128;
    case cudaLimitPersistingL2CacheSize:
      return 0;
    case cudaLimitStackSize:
      return 1024;
    case cudaLimitPrintfFifoSize:
      return 1 << 20;
    case cudaLimitMallocHeapSize:
      return 8 << 20;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::size_t Process::stack_bytes(int device) const {
  const auto found = limits.find({device, cudaLimitStackSize});
  return found == limits.end() ? *default_of(cudaLimitStackSize) : found->second;
}

DeviceHeap& Process::heap_of(int device) {
  const auto found = heaps.find(device);
  if (found != heaps.end()) return found->second;
  const auto limit = limits.find({device, cudaLimitMallocHeapSize});
  return heaps
      .try_emplace(device, memory, devices.gpu(device),
                   limit == limits.end() ? *default_of(cudaLimitMallocHeapSize) : limit->second)
      .first->second;
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto usual = default_of(limit);
    if (!usual) return cudaErrorUnsupportedLimit;
    const auto found = p.limits.find({current_device(), limit});
    *value = found == p.limits.end() ? *usual : found->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (!default_of(limit)) return cudaErrorUnsupportedLimit;
    if (limit == cudaLimitStackSize && value > max_stack_bytes) return cudaErrorInvalidValue;
    if (limit == cudaLimitMaxL2FetchGranularity && value > 128) return cudaErrorInvalidValue;
    if (limit == cudaLimitPersistingL2CacheSize) {
      const std::size_t most = persisting_l2_bytes(p.devices.model(current_gpu(p)));
      if (most == 0) return cudaErrorUnsupportedLimit;
      value = std::min(value, most);
    }
    if (limit == cudaLimitMallocHeapSize) {
      // "Must not be performed after launching any kernel that uses malloc or free."
      DeviceHeap& heap = p.heap_of(current_device());
      if (heap.is_used()) return cudaErrorInvalidValue;
      heap.set_limit(value);
    }
    p.limits[{current_device(), limit}] = value;
    return cudaSuccess;
  });
}
