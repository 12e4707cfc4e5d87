#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

/// Sets of a trial that launches took in turns.
struct Turns {
  std::size_t first = 0;
  std::int64_t launches = 1;
  std::size_t of = 1;  // number of sets

  /// Those that were launched at least once.
  std::vector<std::size_t> sets() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < of && static_cast<std::int64_t>(i) < launches; ++i) {
      all.push_back((first + i) % of);
    }
    return all;
  }
};

}  // namespace assay
