#include "harness/ab/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/statistics/signed_rank.h"
#include "kernels/core/status.h"

namespace assay::ab {

void check(const Rule& rule, std::int64_t cases) {
  if (!(rule.margin >= 0) || !std::isfinite(rule.margin)) {
    throw UsageError("--margin: must be a number that is not negative");
  }
  const int for_interval = statistics::min_differences((1 - rule.confidence) / 2);
  const int to_screen = std::max(for_interval, statistics::min_differences(rule.screen_p));
  if (rule.screen_rounds < to_screen) {
    throw UsageError(fmt::format(
        "--rounds {}: a signed-rank test at p < {} and a {:g}% interval need {} rounds at least",
        rule.screen_rounds, rule.screen_p, rule.confidence * 100, to_screen));
  }
  // If all cases are suspects, Holm demands this of the smallest p.
  const double strictest_p = rule.confirm_p / static_cast<double>(std::max<std::int64_t>(1, cases));
  const int to_confirm = std::max(for_interval, statistics::min_differences(strictest_p));
  if (rule.confirm_rounds < to_confirm) {
    throw UsageError(
        fmt::format("--confirm {}: a regression among {} cases cannot be confirmed at "
                    "p < {} with fewer than {} rounds",
                    rule.confirm_rounds, cases, rule.confirm_p, to_confirm));
  }
}

}  // namespace assay::ab
