#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace assay {

/// Where the tensors of a device lie, as seen from the process that drives it.
enum class MemorySpace {
  host,    // in the host's memory
  device,  // in a memory of its own, to and from which the process copies
  remote,  // with another process
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
