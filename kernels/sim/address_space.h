#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace assay::sim {

/// Memory of one simulated device: addresses that the host cannot touch, each backed by host memory
/// elsewhere. Any access outside this device's kernels and copies is a SIGSEGV. So a harness that
/// reads a device pointer directly fails here, as on a GPU.
class AddressSpace {
 public:
  explicit AddressSpace(std::size_t capacity_bytes) : capacity_(capacity_bytes) {}
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// Throws DeviceError(out_of_memory) beyond the capacity.
  void* allocate(std::size_t bytes);
  void release(void* address) noexcept;
  std::size_t used_bytes() const;

  /// Host memory behind an address within an allocation. Throws DeviceError(internal) for an
  /// address of the host or of another device.
  std::byte* host(const void* address) const;
  /// Like host(), but returns null for such an address.
  std::byte* find(const void* address) const;

 private:
  struct Block {
    std::size_t bytes;
    std::size_t mapped_bytes;
    std::byte* host;
  };
  void unmap(const std::byte* address, const Block& block) noexcept;

  std::size_t capacity_;
  /// Locked because concurrent devices look up each other's addresses.
  mutable std::mutex mutex_;
  std::size_t used_ = 0;
  std::map<const std::byte*, Block> blocks_;  // by device address of the first byte
};

}  // namespace assay::sim
