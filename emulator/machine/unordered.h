#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/machine/memory.h"

namespace emulator {

/// Work that has begun before a launch or a copy, and that no stream, event or host orders with it:
/// launches by their number (Memory::next_launch), copies and memsets by the bytes that they use.
struct Unordered {
  struct Range {
    std::uintptr_t begin = 0, end = 0;
    bool is_written = false;
    std::string name = {};
  };
  std::unordered_map<std::uint64_t, std::string> launches;  // their names
  std::vector<Range> ranges;

  bool is_empty() const { return launches.empty() && ranges.empty(); }
  void add_launch(std::uint64_t number, const std::string& name);
  /// Whether a launch of this number is among them. Quick.
  bool has_launch(std::uint64_t number) const { return !launches.empty() && is_launch_[number]; }
  /// The first range that a use of these bytes would race with.
  const Range* meets(std::uintptr_t begin, std::size_t bytes, bool writes) const;

 private:
  std::vector<bool> is_launch_;
};

/// Says which of the work uses some of these bytes of a GPU, so that a copy that reads them, or
/// `writes` them, races with it. Nothing: none.
std::optional<std::string> unordered_use(const Memory& memory, std::uintptr_t address,
                                         std::size_t bytes, bool writes,
                                         const Unordered& unordered);

}  // namespace emulator
