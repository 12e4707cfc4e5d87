#include "harness/measure/limit_book.h"

#include <fmt/format.h>

#include <optional>

#include "harness/measure/demand.h"

namespace assay::measure {
namespace {

/// Relative drift that the two figures may have between their measurements.
constexpr double drift = 0.05;

bool is_better(const Limit& a, const Limit& b) {
  if (a.value.has_value() != b.value.has_value()) return a.value.has_value();
  if (!a.value) return false;
  return a.unit == "s" ? *a.value < *b.value : *a.value > *b.value;
}

}  // namespace

void LimitBook::add(const Limit& limit) {
  const auto [place, is_new] = limits_.try_emplace({limit.device, limit.limit}, limit);
  if (!is_new && is_better(limit, place->second)) place->second = limit;
}

const Limit* LimitBook::find(const std::string& device, const std::string& limit) const {
  const auto found = limits_.find({device, limit});
  return found == limits_.end() ? nullptr : &found->second;
}

void LimitBook::rate(const OpInstance& op, const DeviceInfo& device, Record& record) const {
  if (!record.time_median_s || *record.time_median_s <= 0) return;
  const Limit* binding = nullptr;
  double min_s = 0;
  double min_at_best_s = 0;  // at the upper end of the limit's own interval
  for (const Demand& demand : demands(op, device.last_level_cache_bytes)) {
    const Limit* limit = find(device.device, demand.limit);
    if (limit == nullptr || !limit->value || *limit->value <= 0) continue;
    const double needed_s = demand.amount / *limit->value;
    if (binding != nullptr && needed_s <= min_s) continue;
    binding = limit;
    min_s = needed_s;
    min_at_best_s = demand.amount / limit->ci_high.value_or(*limit->value);
  }
  if (binding == nullptr) return;
  record.limit = fmt::format("{} {:.4g} {}", binding->limit, *binding->value, binding->unit);
  record.fraction_of_limit = min_s / *record.time_median_s;
  const double slowest_s = record.time_ci_high_s.value_or(*record.time_median_s);
  record.beyond_limit = min_at_best_s > slowest_s * (1 + drift);
  if (!*record.beyond_limit) return;
  const std::string note =
      fmt::format("beyond its limit: {:.2f} of {}; one of the two figures is wrong",
                  *record.fraction_of_limit, record.limit);
  record.reason = record.reason.empty() ? note : note + ", " + record.reason;
}

}  // namespace assay::measure
