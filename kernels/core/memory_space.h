#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace assay {

/// Place of a device's tensors, as seen from the process that drives the device.
enum class MemorySpace {
  host,    // in the host's memory
  device,  // in the device's own memory, which the process copies to and from
  remote,  // in another process
};

inline std::span<const MemorySpace> enumerators(MemorySpace /*of*/) {
  static constexpr std::array all{MemorySpace::host, MemorySpace::device, MemorySpace::remote};
  return all;
}

inline std::string_view name(MemorySpace space) {
  constexpr std::array<std::string_view, 3> names{"host", "device", "remote"};
  return names.at(static_cast<std::size_t>(space));
}

}  // namespace assay
