#include "reports/text/harness_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/text/si.h"

namespace assay {
namespace {

/// Median; the upper one of an even number.
double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string percent(double share) { return fmt::format("{:.2g}%", 100 * share); }

}  // namespace

std::string harness_cost(std::span<const Record> trials) {
  std::vector<double> empty_s;
  std::vector<double> share;
  std::vector<double> between_s;
  for (const Record& trial : trials) {
    if (!trial.stand_in.empty() || !trial.empty_sample_s || !trial.between_samples_s) continue;
    empty_s.push_back(*trial.empty_sample_s);
    between_s.push_back(*trial.between_samples_s);
    const double sample_s = trial.time_median_s.value_or(0) *
                            static_cast<double>(trial.launches_per_sample.value_or(0));
    if (sample_s > 0) share.push_back(*trial.empty_sample_s / sample_s);
  }
  if (share.empty()) return {};
  return fmt::format(
      "reading the clock takes {} of a sample, {} of it (worst {}); {} pass between two",
      si(median(empty_s), "s"), percent(median(share)), percent(*std::ranges::max_element(share)),
      si(median(between_s), "s"));
}

}  // namespace assay
