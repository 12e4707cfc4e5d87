#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/statistics/order_statistics.h"

namespace assay {

/// Shown in place of an interval.
inline constexpr std::string_view too_few_samples = "too few samples";

/// Returns whether a median of so many samples has no interval for that reason.
inline bool has_too_few_samples(std::optional<std::int64_t> samples) {
  return samples && *samples < static_cast<std::int64_t>(statistics::min_for_interval);
}

}  // namespace assay
