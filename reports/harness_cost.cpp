#include "reports/harness_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/measure/statistics.h"
#include "reports/si.h"

namespace assay {
namespace {

std::string percent(double share) { return fmt::format("{:.2g}%", 100 * share); }

}  // namespace

std::string harness_cost(std::span<const Record> trials) {
  std::vector<double> empty_s;
  std::vector<double> share;
  std::vector<double> between_s;
  for (const Record& trial : trials) {
    if (!trial.empty_sample_s || !trial.between_samples_s) continue;
    empty_s.push_back(*trial.empty_sample_s);
    between_s.push_back(*trial.between_samples_s);
    const double sample_s = trial.time_median_s.value_or(0) *
                            static_cast<double>(trial.launches_per_sample.value_or(0));
    if (sample_s > 0) share.push_back(*trial.empty_sample_s / sample_s);
  }
  if (share.empty()) return {};
  return fmt::format("at most {} of a sample, {} of it (worst {}); {} between two",
                     si(measure::median(empty_s), "s"), percent(measure::median(share)),
                     percent(*std::ranges::max_element(share)),
                     si(measure::median(between_s), "s"));
}

}  // namespace assay
