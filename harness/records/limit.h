#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "harness/records/limit_kind.h"
#include "harness/records/record.h"

namespace assay {

/// Measured ceiling of one device, from the verified launches of one case. A row of limits.csv.
struct Limit {
  std::string device;
  NamedLimit limit;
  Status status = Status::error;
  std::string reason;
  std::string unit;  // unit of the next four: that of its kind
  std::optional<double> value;
  std::optional<double> ci_low;  // 95% interval of the median time, one process
  std::optional<double> ci_high;
  std::optional<double> theoretical;  // by clocks and widths, where known
  std::string case_id;
  std::string implementation;
  std::string launched_by;
  std::optional<std::int64_t> samples;
  std::string stop_reason;
  std::optional<double> noise;
  std::optional<double> clock_hz;
  std::optional<bool> throttled;
  std::optional<bool> contended;
  std::string device_uuid;
  std::string started_at;  // UTC, ISO 8601
};

/// Visits fields in the order of the columns of limits.csv.
template <class L, class Visitor>
void visit_fields(L& limit, Visitor&& visit) requires std::same_as<std::remove_const_t<L>, Limit> {
  visit("device", limit.device);
  visit("limit", limit.limit);
  visit("status", limit.status);
  visit("reason", limit.reason);
  visit("unit", limit.unit);
  visit("value", limit.value);
  visit("ci_low", limit.ci_low);
  visit("ci_high", limit.ci_high);
  visit("theoretical", limit.theoretical);
  visit("case_id", limit.case_id);
  visit("implementation", limit.implementation);
  visit("launched_by", limit.launched_by);
  visit("samples", limit.samples);
  visit("stop_reason", limit.stop_reason);
  visit("noise", limit.noise);
  visit("clock_hz", limit.clock_hz);
  visit("throttled", limit.throttled);
  visit("contended", limit.contended);
  visit("device_uuid", limit.device_uuid);
  visit("started_at", limit.started_at);
}

/// Cell of the column `limit`: its name.
std::string to_cell(const NamedLimit& limit);
void from_cell(std::string_view cell, NamedLimit& limit);

/// Cell of that column in results.csv: "memory_copy 1.074e+09 B/s".
std::string result_cell(const Limit& limit);
/// Inverse of `result_cell`, for the limit alone.
NamedLimit limit_of_result(std::string_view cell);

}  // namespace assay
