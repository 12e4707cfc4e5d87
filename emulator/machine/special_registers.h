#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "emulator/machine/launch_context.h"

namespace emulator {

/// A thread that reads a special register.
struct SpecialReader {
  const LaunchContext& launch;
  std::uint64_t block;  // its index in the grid
  Dim3 ctaid;           // its place there
  std::size_t shared_bytes;
  int warp, lane;
};

/// The number of a special register by its name: "%tid.x". None: unknown.
std::optional<std::size_t> find_special(std::string_view name);
std::uint32_t special_value(std::size_t special, const SpecialReader& reader);

}  // namespace emulator
