#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/core/status.h"
#include "kernels/device/device.h"

namespace assay::remote {

/// Memory that could be reached has been protected or hidden.
struct MemoryWithheld : DeviceError {
  using DeviceError::DeviceError;
};

/// Memory of another process of this machine, read and written without its help: no code there can
/// tell when it is looked at. Addresses are those of that process. Throws MemoryWithheld, as an
/// internal error, for pages that it has protected, or if it hides itself or has ended.
class ProcessMemory {
 public:
  /// Returns nothing if the system does not allow it. Tries to read `content` at an address where
  /// the process, which no foreign code has entered yet, says that it lies.
  static std::optional<ProcessMemory> open(pid_t process, std::uint64_t address,
                                           std::span<const std::byte> content);

  void read(const void* from, std::span<const Piece> pieces) const;
  void write(void* to, std::span<const SourcePiece> pieces) const;
  void fill(void* to, std::byte value, std::size_t bytes) const;

  pid_t process() const { return process_; }

 private:
  explicit ProcessMemory(pid_t process) : process_(process) {}

  pid_t process_;
};

}  // namespace assay::remote
