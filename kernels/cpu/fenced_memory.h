#pragma once

#include <cstddef>

namespace assay::cpu {

/// Memory whose last byte lies right before pages that nothing may touch. A read or write past the
/// end ends the process, which says so on standard error first. Aligned as its size is.
class FencedMemory {
 public:
  /// Throws DeviceError(out_of_memory).
  explicit FencedMemory(std::size_t bytes);
  ~FencedMemory();
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;

  void* data() const { return data_; }

 private:
  void* reserved_;
  std::size_t reserved_bytes_;
  void* data_;
  std::size_t slot_;  // by which a signal handler finds the fence
};

}  // namespace assay::cpu
