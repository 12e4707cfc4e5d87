#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "emulator/runtime/lacking.h"
#include "emulator/runtime/streams.h"

namespace emulator {
namespace {

/// Releases wait for the GPU's work by default, as real ones are known to do; the documentation
/// only says that they may. With ASSAY_EMULATOR_STRICT_FREE=1 they do not.
bool waits_when_freeing() {
  static const bool waits = [] {
    const char* strict = std::getenv("ASSAY_EMULATOR_STRICT_FREE");
    return strict == nullptr || std::strcmp(strict, "1") != 0;
  }();
  return waits;
}

/// Waits for all GPUs: any of them may use pinned and managed memory.
void wait_for_all(Process& p, Lock& lock) {
  if (waits_when_freeing()) {
    wait_for(p, lock, p.scheduler.newest([](const Queue&) { return true; }));
  }
}

cudaError_t free_managed(Process& p, Lock& lock, std::uintptr_t address) {
  const std::size_t bytes = p.managed_memories.at(address).bytes;
  p.managed_memories.erase(address);
  wait_for_all(p, lock);
  if (sticky_error() != cudaSuccess) return cudaSuccess;
  p.advice.forget(address, bytes);
  p.memory.release(address);
  return cudaSuccess;
}

cudaError_t free_pooled(Process& p, Lock& lock, std::uintptr_t address) {
  const PooledMemory memory = p.pools.memories.at(address);
  p.pools.memories.erase(address);
  if (waits_when_freeing()) wait_for_device(p, lock, memory.pool->device);
  if (sticky_error() != cudaSuccess) return cudaSuccess;
  p.memory.release(address);
  memory.pool->give_back(memory.bytes);
  return cudaSuccess;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    if (memory == nullptr) return cudaErrorInvalidValue;
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    const std::uintptr_t address = p.memory.allocate(current_gpu(p), bytes);
    if (address == 0) return cudaErrorMemoryAllocation;
    p.allocations.emplace(address, current_device());
    *memory = reinterpret_cast<void*>(address);
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* memory) {
  return call(Wants::safety, [&](Process& p, Lock& lock) {
    if (memory == nullptr) return cudaSuccess;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    if (p.managed_memories.contains(address)) return free_managed(p, lock, address);
    if (p.pools.memories.contains(address)) return free_pooled(p, lock, address);
    if (const auto graph_memory = p.pools.graph_memory(address)) {
      wait_for_all(p, lock);
      if (sticky_error() == cudaSuccess) graph_memory->end();
      return cudaSuccess;
    }
    const auto found = p.allocations.find(address);
    if (found == p.allocations.end()) return cudaErrorInvalidValue;
    const int device = found->second;
    p.allocations.erase(found);  // before other threads may run: of two frees one is refused
    if (waits_when_freeing()) wait_for_device(p, lock, device);
    if (sticky_error() == cudaSuccess) p.memory.release(address);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
    *free_bytes = p.memory.free_bytes(current_gpu(p));
    *total_bytes = p.devices.model(current_gpu(p)).memory_bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    constexpr unsigned known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (memory == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (whole_pages(bytes) < bytes) return cudaErrorMemoryAllocation;
    void* pages = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return cudaErrorMemoryAllocation;
    p.memory.add_host(pages, bytes);
    p.pinned[reinterpret_cast<std::uintptr_t>(pages)] = {bytes, current_device(), false, flags};
    *memory = pages;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return cudaHostAlloc(memory, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* memory, unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
    const auto allocation = p.memory.find(reinterpret_cast<std::uintptr_t>(memory));
    if (!allocation || allocation->owner != host) return cudaErrorInvalidValue;
    *device = memory;  // one address space for all
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* memory) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto allocation = p.memory.find(reinterpret_cast<std::uintptr_t>(memory));
    if (flags == nullptr || !allocation || allocation->owner != host) return cudaErrorInvalidValue;
    *flags = p.pinned.at(allocation->begin).flags;
    return cudaSuccess;
  });
}

/// Rows begin at multiples of 512 bytes, as on real GPUs.
cudaError_t cudaMallocPitch(void** memory, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  constexpr std::size_t alignment = 512;
  if (pitch == nullptr || width > SIZE_MAX - alignment) return last_error() = cudaErrorInvalidValue;
  *pitch = (width + alignment - 1) / alignment * alignment;
  if (*pitch != 0 && height > SIZE_MAX / *pitch) return last_error() = cudaErrorMemoryAllocation;
  return cudaMalloc(memory, *pitch * height);
}

cudaError_t cudaFreeHost(void* memory) {
  return call(Wants::safety, [&](Process& p, Lock& lock) {
    if (memory == nullptr) return cudaSuccess;
    const auto found = p.pinned.find(reinterpret_cast<std::uintptr_t>(memory));
    if (found == p.pinned.end() || found->second.is_registered) return cudaErrorInvalidValue;
    const std::size_t bytes = found->second.bytes;
    p.pinned.erase(found);
    wait_for_all(p, lock);
    if (sticky_error() != cudaSuccess) return cudaSuccess;
    p.memory.remove_host(memory);
    munmap(memory, whole_pages(bytes));
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped;
    constexpr unsigned not_emulated = cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    if (memory == nullptr || bytes == 0 || (flags & ~known) != 0 ||
        p.memory.is_device_address(begin)) {
      if (flags != 0 && (flags & ~(known | not_emulated)) == 0) {
        say_lacking("cudaHostRegister: memory of devices, or that GPUs only read, is not emulated");
        return cudaErrorNotSupported;
      }
      return cudaErrorInvalidValue;
    }
    const auto behind = p.pinned.lower_bound(begin + bytes);
    if (behind != p.pinned.begin()) {
      const auto& [other, pinned] = *std::prev(behind);
      if (other + pinned.bytes > begin) return cudaErrorHostMemoryAlreadyRegistered;
    }
    p.memory.add_host(memory, bytes);
    p.pinned[begin] = {bytes, current_device(), true, flags};
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* memory) {
  return call(Wants::safety, [&](Process& p, Lock& lock) {
    const auto found = p.pinned.find(reinterpret_cast<std::uintptr_t>(memory));
    if (found == p.pinned.end() || !found->second.is_registered) {
      return cudaErrorHostMemoryNotRegistered;
    }
    p.pinned.erase(found);
    wait_for_all(p, lock);
    if (sticky_error() == cudaSuccess) p.memory.remove_host(memory);
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    void* const same = const_cast<void*>(pointer);
    std::memset(attributes, 0, sizeof *attributes);
    const auto allocation = p.memory.find(address);
    if (!allocation) {
      if (p.memory.is_device_address(address))
        return cudaErrorInvalidValue;  // freed, or never given
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = same;
      return cudaSuccess;
    }
    if (allocation->owner == host) {
      attributes->type = cudaMemoryTypeHost;
      attributes->device = p.pinned.at(allocation->begin).device;
      attributes->devicePointer = same;
      attributes->hostPointer = same;
      return cudaSuccess;
    }
    if (allocation->owner == managed) {
      const auto found = p.managed_memories.find(allocation->begin);
      attributes->type = cudaMemoryTypeManaged;
      attributes->device = found == p.managed_memories.end() ? 0 : found->second.device;
      attributes->devicePointer = same;
      attributes->hostPointer = same;
      return cudaSuccess;
    }
    attributes->type = cudaMemoryTypeDevice;
    attributes->device = p.devices.ordinal_of(allocation->owner);
    const bool is_accessible = p.memory.may_use(current_gpu(p), *allocation);
    attributes->devicePointer = is_accessible ? same : nullptr;
    return cudaSuccess;
  });
}
