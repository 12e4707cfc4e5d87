#pragma once

#include <cstddef>
#include <map>

#include "kernels/core/tensor.h"

namespace assay::cuda {

/// Memory of the host that a GPU's tensors lie in: what transfers begin or end in.
class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// On whole pages. `kind` is pageable or pinned; the current GPU can reach the latter by itself.
  /// Throws DeviceError.
  void* allocate(std::size_t bytes, Memory kind);
  /// Whether it was of this memory, and is released.
  bool release(void* memory) noexcept;
  /// Whether the address lies in it.
  bool holds(const void* address) const;

 private:
  struct Block {
    std::size_t bytes;
    Memory kind;
  };
  static void free(void* memory, Memory kind) noexcept;

  std::map<std::byte*, Block> blocks_;
};

}  // namespace assay::cuda
