#include "reports/text/largest_case.h"

#include <algorithm>

#include "reports/text/rate.h"

namespace assay {

const Record* any_of(const std::vector<TrialRow>& trials) {
  const auto found =
      std::ranges::find_if(trials, [](const TrialRow& rated) { return rated.trial != nullptr; });
  return found == trials.end() ? nullptr : found->trial;
}

void LargestCase::add(TrialRow trial, std::size_t column) {
  if (!rate(*trial.trial)) return;
  const auto [at, is_new] =
      index_.try_emplace({trial.trial->case_id, trial.trial->timing}, rated_.size());
  if (is_new) rated_.emplace_back(columns_);
  TrialRow& held = rated_[at->second].at(column);
  if (held.trial == nullptr) held = trial;
}

std::vector<TrialRow> LargestCase::trials() const {
  const std::vector<TrialRow>* largest = nullptr;
  std::ptrdiff_t most = 0;
  for (const std::vector<TrialRow>& trials : rated_) {
    const auto lacking = std::ranges::count(trials, nullptr, &TrialRow::trial);
    const std::ptrdiff_t count = std::ssize(trials) - lacking;
    const bool is_larger = largest == nullptr || tells_more(*any_of(trials), *any_of(*largest));
    if (count < most || (count == most && !is_larger)) continue;
    most = count;
    largest = &trials;
  }
  return largest == nullptr ? std::vector<TrialRow>() : *largest;
}

}  // namespace assay
