#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace assay {

/// Where the tensors of a device lie, as seen from the process that drives it.
enum class MemorySpace {
  host,    // in the host's memory
  device,  // in a memory of its own, to and from which the process copies
  remote,  // with another process
};

namespace memory_space_detail {
inline constexpr std::array<std::string_view, 3> names{"host", "device", "remote"};
}

inline std::string_view name(MemorySpace space) {
  return memory_space_detail::names.at(static_cast<std::size_t>(space));
}

inline std::optional<MemorySpace> parse_memory_space(std::string_view text) {
  const auto& names = memory_space_detail::names;
  const auto* const found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<MemorySpace>(found - names.begin());
}

}  // namespace assay
