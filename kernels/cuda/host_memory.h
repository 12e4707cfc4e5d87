#pragma once

#include <cstddef>
#include <map>

#include "kernels/core/tensor_spec.h"

namespace assay::cuda {

/// Host memory for a GPU's tensors: the source or target of transfers.
class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// Allocates whole pages. `kind` is pageable or pinned; the current GPU can access pinned memory
  /// directly. Throws DeviceError.
  void* allocate(std::size_t bytes, Memory kind);
  /// Releases memory of this object. Returns false for any other memory.
  bool release(void* memory) noexcept;
  /// Returns true if the address lies in this memory.
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
