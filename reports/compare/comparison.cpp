#include "reports/compare/comparison.h"

#include <algorithm>
#include <array>

#include "reports/text/outcomes.h"

namespace assay {
namespace {

bool is_same(const StoredTrial& a, const StoredTrial& b) {
  return a.status == b.status && a.accepted == b.accepted;
}

Change change_of(const StoredTrial& base, const StoredTrial& cand) {
  if (base.passed() && cand.passed()) return Change::unchanged;
  if (cand.passed()) return Change::mended;
  if (base.passed() || (cand.is_bad() && !base.is_bad())) return Change::lost;
  return is_same(base, cand) && !base.is_bad() ? Change::unchanged : Change::unmended;
}

ComparedTrial compared(const StoredTrial& base, const StoredTrial& cand,
                       const ComparisonOptions& options) {
  ComparedTrial trial{&base, &cand, change_of(base, cand)};
  const bool is_right = base.passed() && cand.passed();
  if (is_right && options.same_seed && base.output_hash != 0 && cand.output_hash != 0) {
    trial.same_implementation = *base.implementation == *cand.implementation;
    trial.same_bits = base.output_hash == cand.output_hash;
  }
  if (!is_right || !base.time || !cand.time || base.is_stand_in || cand.is_stand_in) {
    return trial;
  }
  trial.ratio = ratio_of(*base.time, *cand.time);
  if (!options.hardware) trial.speed = speed_of(trial.ratio, options.margin);
  return trial;
}

}  // namespace

Ratio ratio_of(const StoredTime& base, const StoredTime& cand) {
  Ratio ratio{cand.median_s / base.median_s};
  if (base.has_interval() && cand.has_interval()) {
    ratio.low = cand.low_s / base.high_s;
    ratio.high = cand.high_s / base.low_s;
  }
  return ratio;
}

Speed speed_of(const Ratio& ratio, double margin) {
  if (ratio.low == 0) return Speed::unclear;
  const double slow = 1 + margin;
  const double fast = 1 / slow;
  if (ratio.low > slow) return Speed::slower;
  if (ratio.high < fast) return Speed::faster;
  return ratio.low >= fast && ratio.high <= slow ? Speed::within : Speed::unclear;
}

std::string_view name(Change change) {
  constexpr std::array<std::string_view, 6> names{"unchanged", "lost",   "missing",
                                                  "new",       "mended", "unmended"};
  return names.at(static_cast<std::size_t>(change));
}

std::string_view name(Speed speed) {
  constexpr std::array<std::string_view, 5> names{"", "slower", "faster", "within", "unclear"};
  return names.at(static_cast<std::size_t>(speed));
}

bool ComparedTrial::is_disturbed() const {
  const auto disturbed = [](const StoredTrial* trial) {
    return trial != nullptr && trial->time && (trial->time->contended || trial->time->throttled);
  };
  return disturbed(base) || disturbed(cand);
}

bool ComparedTrial::is_worse() const {
  switch (change) {
    case Change::lost:
      return true;
    case Change::missing:
      return base->status != Status::skip;
    case Change::added:
      return cand->is_bad();
    case Change::unchanged:
    case Change::mended:
    case Change::unmended:
      break;
  }
  return false;
}

std::size_t Comparison::count(Change change) const {
  return static_cast<std::size_t>(std::ranges::count(trials, change, &ComparedTrial::change));
}

std::size_t Comparison::count(Speed speed) const {
  return static_cast<std::size_t>(std::ranges::count(trials, speed, &ComparedTrial::speed));
}

bool Comparison::is_worse() const {
  return std::ranges::any_of(trials, [&](const ComparedTrial& trial) {
    return trial.is_worse() && (any_in_common || trial.change != Change::missing);
  });
}

bool Comparison::compares_anything() const {
  return std::ranges::any_of(trials, [](const ComparedTrial& trial) {
    return trial.base != nullptr && trial.cand != nullptr && trial.base->status != Status::skip &&
           trial.cand->status != Status::skip;
  });
}

Comparison compare_trials(const StoredTrials& base, const StoredTrials& cand,
                          const ComparisonOptions& options) {
  const auto id_in_cand = [&](const std::string& device) -> const std::string& {
    const auto other =
        std::ranges::find(options.other_ids, device, &std::pair<std::string, std::string>::first);
    return other == options.other_ids.end() ? device : other->second;
  };
  Comparison comparison;
  comparison.trials.reserve(std::max(base.trials().size(), cand.trials().size()));
  std::vector<bool> is_paired(cand.trials().size());
  for (const StoredTrial& trial : base.trials()) {
    const std::uint32_t index =
        cand.find(trial.case_id, id_in_cand(trial.group->device), trial.group->timing);
    if (index == StoredTrials::absent) {
      comparison.trials.push_back({&trial, nullptr, Change::missing});
      continue;
    }
    is_paired[index] = true;
    comparison.any_in_common = true;
    comparison.trials.push_back(compared(trial, cand.trials()[index], options));
  }
  for (std::size_t index = 0; index < is_paired.size(); ++index) {
    if (!is_paired[index]) {
      comparison.trials.push_back({nullptr, &cand.trials()[index], Change::added});
    }
  }
  return comparison;
}

}  // namespace assay
