#pragma once

#include <optional>

#include "harness/records/rate_kind.h"
#include "harness/records/record.h"

namespace assay {

/// Figure of a record's speed.
struct Rate {
  double per_s = 0;
  RateKind kind = RateKind::data;
};

/// Returns the bytes moved per second: over the bus for a collective.
std::optional<double> bandwidth(const Record& record);

/// Returns the rate of arithmetic if there is much of it for each byte (products), else its
/// bandwidth. Nothing if the trial did not pass, was not timed, or ran on what stands in for a
/// device.
std::optional<Rate> rate(const Record& record);

/// Returns the median time that reports may show; nothing for what stands in for a device.
std::optional<double> shown_time_s(const Record& record);

/// Returns whether the rate of `record` represents its op better than that of `other`: f32 before
/// other dtypes, launches back to back before cold ones, the larger case before the smaller.
bool tells_more(const Record& record, const Record& other);

}  // namespace assay
