#pragma once

#include <optional>
#include <string_view>

#include "harness/records/record.h"

namespace assay {

/// The figure by which a record's speed is told.
struct Rate {
  double per_s = 0;
  std::string_view unit;  // "FLOP/s", "B/s"
};

/// Arithmetic where there is much of it for each byte (products), else the data moved: over the bus
/// for a collective. Nothing for what did not pass or was not timed.
std::optional<Rate> rate(const Record& record);

/// Whether the rate of `record` says more of its op than that of `other`: f32 before other dtypes,
/// launches back to back before cold ones, the larger case before the smaller.
bool tells_more(const Record& record, const Record& other);

}  // namespace assay
