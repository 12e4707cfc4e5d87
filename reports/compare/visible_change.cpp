#include "reports/compare/visible_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

/// "7.1%", or "22%" from 10% on: never less than the intervals show.
std::string at_least(double change) {
  constexpr double rounding_error = 1e-9;  // 2% is not 2.1%
  const double steps = change < 0.1 ? 1000 : 100;
  return fmt::format("{:.4g}%", std::ceil(change * steps - rounding_error) / steps * 100);
}

}  // namespace

double visible_change(const PairedCase& one) {
  const double low = one.ratio_low.value_or(0);
  const double ratio = one.ratio.value_or(0);
  if (low <= 0 || ratio <= 0 || !one.ratio_high) return std::numeric_limits<double>::infinity();
  const double arm = std::max(ratio / low, *one.ratio_high / ratio);
  return (1 + one.margin.value_or(0)) * arm - 1;
}

std::string visible_changes_text(std::span<const PairedCase> cases) {
  std::vector<double> changes;
  for (const PairedCase& one : cases) {
    if (one.verdict == PairedVerdict::inconclusive) changes.push_back(visible_change(one));
  }
  if (changes.empty()) return {};
  std::ranges::sort(changes);
  const auto blind = std::ranges::find_if(changes, [](double x) { return !std::isfinite(x); });
  const std::ptrdiff_t sighted = blind - changes.begin();
  if (sighted == 0) return "this run could have seen no change";
  const std::string all = at_least(changes[sighted - 1]);
  if (blind != changes.end()) {
    return fmt::format("this run could have seen changes of {} or more in {} of {} cases", all,
                       sighted, changes.size());
  }
  if (changes.size() == 1)
    return fmt::format("this run could have seen a change of {} or more", all);
  const std::string half = at_least(changes[(changes.size() - 1) / 2]);
  if (half == all) {
    return fmt::format("this run could have seen changes of {} or more in all cases", all);
  }
  return fmt::format(
      "this run could have seen changes of {} or more in half of the cases, {} in all", half, all);
}

}  // namespace assay
