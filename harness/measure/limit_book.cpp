#include "harness/measure/limit_book.h"

#include <fmt/format.h>

#include <optional>

#include "harness/measure/demand.h"

namespace assay::measure {
namespace {

/// Relative drift that the two figures may have between their measurements.
constexpr double drift = 0.05;

bool is_better(const Limit& a, const Limit& b) {
  return a.unit == "s" ? *a.value < *b.value : *a.value > *b.value;
}

}  // namespace

std::vector<const Limit*> LimitBook::all(const std::string& device,
                                         const std::string& limit) const {
  std::vector<const Limit*> found;
  for (const Limit& one : limits_) {
    if (one.device == device && one.limit == limit && one.value) found.push_back(&one);
  }
  return found;
}

const Limit* LimitBook::best(const std::string& device, const std::string& limit) const {
  const Limit* best = nullptr;
  for (const Limit* one : all(device, limit)) {
    if (best == nullptr || is_better(*one, *best)) best = one;
  }
  return best;
}

std::optional<LimitBook::Bound> LimitBook::bound(const OpInstance& op,
                                                 const DeviceInfo& device) const {
  std::optional<Bound> slowest;
  for (const Demand& demand : demands(op, device.last_level_cache_bytes)) {
    const Limit* limit = best(device.device, demand.limit);
    if (limit == nullptr || *limit->value <= 0) continue;
    const double slowest_s = slowest ? slowest->amount / *slowest->limit->value : 0;
    if (demand.amount / *limit->value > slowest_s) slowest = Bound{limit, demand.amount};
  }
  return slowest;
}

void LimitBook::rate(const OpInstance& op, const DeviceInfo& device, Record& record) const {
  if (!record.time_median_s || *record.time_median_s <= 0) return;
  const auto bound = this->bound(op, device);
  if (!bound) return;
  const Limit& limit = *bound->limit;
  record.limit = fmt::format("{} {:.4g} {}", limit.limit, *limit.value, limit.unit);
  const double at_best_s = bound->amount / limit.ci_high.value_or(*limit.value);
  double surely = at_best_s / record.time_ci_high_s.value_or(*record.time_median_s);
  if (!record.fraction_of_limit) {
    record.fraction_of_limit = bound->amount / *limit.value / *record.time_median_s;
  } else if (record.fraction_ci_low) {
    surely = *record.fraction_ci_low;
  }
  record.beyond_limit = surely > 1 + drift;
  if (!*record.beyond_limit) return;
  const std::string note =
      fmt::format("beyond its limit: {:.2f} of {}; one of the two figures is wrong",
                  *record.fraction_of_limit, record.limit);
  record.reason = record.reason.empty() ? note : note + ", " + record.reason;
}

}  // namespace assay::measure
