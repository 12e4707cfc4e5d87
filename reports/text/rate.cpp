#include "reports/text/rate.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// FLOPs per byte from which arithmetic is the rate of a case: far above any elementwise op, below
/// any real product.
constexpr double arithmetic_intensity = 4;

bool usable(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value > 0;
}

/// Compares the work of two cases. The later of two equal ones counts: more ranks, more fused.
double work(const Record& record) {
  return std::max(record.flops.value_or(0), record.bytes.value_or(0));
}

}  // namespace

bool tells_more(const Record& record, const Record& other) {
  const bool is_f32 = record.dtype == "f32";
  if (is_f32 != (other.dtype == "f32")) return is_f32;
  const bool is_batch = record.timing == batch_timing;
  if (is_batch != (other.timing == batch_timing)) return is_batch;
  return work(record) >= work(other);
}

std::optional<double> shown_time_s(const Record& record) {
  return record.stand_in.empty() ? record.time_median_s : std::nullopt;
}

std::optional<double> bandwidth(const Record& record) {
  for (const auto& moved :
       {record.busbw_bytes_per_s, record.algbw_bytes_per_s, record.bandwidth_bytes_per_s}) {
    if (usable(moved)) return moved;
  }
  return std::nullopt;
}

std::optional<Rate> rate(const Record& record) {
  if (record.status != Status::pass || !record.stand_in.empty()) return std::nullopt;
  const bool is_arithmetic = usable(record.flops_per_s) && usable(record.flops) &&
                             usable(record.bytes) &&
                             *record.flops >= arithmetic_intensity * *record.bytes;
  if (is_arithmetic) return Rate{*record.flops_per_s, RateKind::arithmetic};
  if (const auto moved = bandwidth(record)) return Rate{*moved, RateKind::data};
  if (usable(record.flops_per_s)) return Rate{*record.flops_per_s, RateKind::arithmetic};
  return std::nullopt;
}

}  // namespace assay
