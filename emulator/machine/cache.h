#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulator {

/// Lines that a GPU's second-level cache holds: those used last, up to its capacity.
class Cache {
 public:
  explicit Cache(std::size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// Brings the bytes in, and evicts what was used before all else.
  void use(std::uintptr_t begin, std::size_t bytes);
  /// How many of the bytes are there.
  std::size_t present_bytes(std::uintptr_t begin, std::size_t bytes) const;

 private:
  struct Lines {
    std::uintptr_t begin, end;
  };
  std::size_t capacity_bytes_;
  std::vector<Lines> used_;  // the last ones last, without overlaps
};

}  // namespace emulator
