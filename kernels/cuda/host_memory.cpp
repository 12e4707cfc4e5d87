#include "kernels/cuda/host_memory.h"

#include <cuda_runtime_api.h>

#include <new>
#include <string>

#include "kernels/core/status.h"
#include "kernels/cuda/current.h"
#include "kernels/cuda/error.h"

namespace assay::cuda {
namespace {

constexpr std::align_val_t page{4096};

}  // namespace

HostMemory::~HostMemory() {
  for (const auto& [memory, block] : blocks_) free(memory, block.kind);
}

void HostMemory::free(void* memory, Memory kind) noexcept {
  if (kind == Memory::pinned) {
    ignore(cudaFreeHost(memory));
  } else {
    ::operator delete(memory, page);
  }
}

void* HostMemory::allocate(std::size_t bytes, Memory kind) {
  void* memory = nullptr;
  if (kind == Memory::pinned) {
    // Portable: the other GPUs of a lane can use it too.
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc");
  } else {
    memory = ::operator new(bytes, page, std::nothrow);
    if (memory == nullptr) {
      throw DeviceError(Failure::out_of_memory,
                        "the host has no memory for " + std::to_string(bytes) + " bytes");
    }
  }
  blocks_.emplace(static_cast<std::byte*>(memory), Block{bytes, kind});
  return memory;
}

bool HostMemory::release(void* memory) noexcept {
  const auto found = blocks_.find(static_cast<std::byte*>(memory));
  if (found == blocks_.end()) return false;
  free(memory, found->second.kind);
  blocks_.erase(found);
  return true;
}

bool HostMemory::holds(const void* address) const {
  // const_cast: the map's keys are the pointers that allocate returned.
  auto* wanted = const_cast<std::byte*>(static_cast<const std::byte*>(address));
  const auto behind = blocks_.upper_bound(wanted);
  if (behind == blocks_.begin()) return false;
  const auto& [begin, block] = *std::prev(behind);
  // Its end is not included: memory of a GPU may begin there.
  return wanted < begin + block.bytes;
}

}  // namespace assay::cuda
