#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/statistics/order_statistics.h"

namespace assay {

/// Stands where an interval would.
inline constexpr std::string_view too_few_samples = "too few samples";

/// Whether a median of so many has no interval for that reason.
inline bool has_too_few_samples(std::optional<std::int64_t> samples) {
  return samples && *samples < static_cast<std::int64_t>(statistics::fewest_for_interval);
}

}  // namespace assay
