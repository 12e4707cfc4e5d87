#include "harness/measure/limit_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/measure/demand.h"
#include "harness/records/forget_times.h"

namespace assay::measure {
namespace {

/// Relative drift that the two figures may have between their measurements.
constexpr double drift = 0.05;

/// Shares of a limit that no honest launch reaches, with all that may be said against the limit:
/// - Of streams and links: plain stores read what they overwrite, so the stream may take twice the
///   time that its bytes need (2); a cache may hold a quarter of tensors of four caches (4/3);
///   others may have taken nine tenths of the machine while the limit was measured (10): 27.
/// - Of products and functions: a library may lack the units that another one uses. AMX multiplies
///   64 times as many bytes a cycle as loops of 16-bit vectors (64); others, as above (10): 640.
/// A launch that does nothing is beyond a stream by thousands, beyond a product by ten thousands.
constexpr double max_share_of_stream = 32;
constexpr double max_share_of_product = 1000;

double max_share(LimitKind limit) {
  return rate_kind(limit) == RateKind::arithmetic ? max_share_of_product : max_share_of_stream;
}

}  // namespace

std::vector<const Limit*> LimitBook::all(const std::string& device, LimitKind kind) const {
  std::vector<const Limit*> found;
  for (const Limit& one : limits_) {
    if (one.device == device && one.limit == kind && one.value) found.push_back(&one);
  }
  return found;
}

const Limit* LimitBook::best(const std::string& device, LimitKind kind) const {
  const std::vector<const Limit*> found = all(device, kind);
  if (found.empty()) return nullptr;
  const auto by_value = [](const Limit* one) { return *one->value; };
  return rate_kind(kind) ? *std::ranges::max_element(found, {}, by_value)
                         : *std::ranges::min_element(found, {}, by_value);
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
  record.limit = result_cell(limit);
  const double at_best_s = bound->amount / limit.ci_high.value_or(*limit.value);
  const double by_book = at_best_s / record.time_ci_high_s.value_or(*record.time_median_s);
  double surely = by_book;
  if (!record.fraction_of_limit) {
    record.fraction_of_limit = bound->amount / *limit.value / *record.time_median_s;
  } else if (record.fraction_ci_low) {
    surely = *record.fraction_ci_low;
  }
  record.beyond_limit = surely > 1 + drift;
  if (!*record.beyond_limit) return;
  // Both must say so: the book by itself may be of a machine that was busy, the turns of one clock.
  if (std::min(surely, by_book) > max_share(*limit.limit.kind()) &&
      (record.status == Status::pass || record.status == Status::flaky)) {
    record.reason = fmt::format(
        "{:.3g} times {}, its limit: no doubt about either figure explains that, so timed launches "
        "do not do the work that was verified",
        *record.fraction_of_limit, record.limit);
    record.status = Status::fail;
    record.caught_by = Check::limit;
    record.caught_on = "timed_launches";
    forget_times(record);
    return;
  }
  const std::string note =
      fmt::format("beyond its limit: {:.2f} of {}; one of the two figures is wrong",
                  *record.fraction_of_limit, record.limit);
  record.reason = record.reason.empty() ? note : note + ", " + record.reason;
}

}  // namespace assay::measure
