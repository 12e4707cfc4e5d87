#include "harness/ab/judge.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/statistics/holm.h"
#include "harness/statistics/signed_rank.h"

namespace assay::ab {
namespace {

void fill_ratio(const Rule& rule, std::string_view stage, std::span<const double> log_ratios,
                PairedCase& result) {
  const auto interval = statistics::signed_rank_interval(log_ratios, rule.confidence);
  result.stage = stage;
  result.rounds = static_cast<std::int64_t>(log_ratios.size());
  result.margin = rule.margin;
  result.ratio = std::exp(statistics::hodges_lehmann(log_ratios));
  result.ratio_low = std::exp(interval.low);
  result.ratio_high = std::exp(interval.high);
}

/// Verdict by the interval alone.
PairedVerdict by_interval(const PairedCase& result) {
  const double slower = 1 + *result.margin;
  const double faster = 1 / slower;
  if (*result.ratio_high < faster) return PairedVerdict::improved;
  if (*result.ratio_low > faster && *result.ratio_high < slower) return PairedVerdict::equivalent;
  return PairedVerdict::inconclusive;
}

}  // namespace

bool judge_screen(const Rule& rule, std::span<const double> log_ratios, PairedCase& result) {
  fill_ratio(rule, screen_stage, log_ratios, result);
  result.p_screen = statistics::p_greater(log_ratios, std::log1p(rule.margin));
  result.verdict = by_interval(result);
  return *result.p_screen < rule.screen_p;
}

void judge_confirm(const Rule& rule, std::span<const double> log_ratios, PairedCase& result) {
  fill_ratio(rule, confirm_stage, log_ratios, result);
  result.p_confirm = statistics::p_greater(log_ratios, std::log1p(rule.margin));
}

void judge_suspects(const Rule& rule, std::span<PairedCase* const> suspects) {
  std::vector<double> p;
  for (const PairedCase* suspect : suspects) p.push_back(suspect->p_confirm.value());
  const std::vector<double> adjusted = statistics::holm(p);
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    suspects[i]->p_holm = adjusted[i];
    suspects[i]->verdict =
        adjusted[i] < rule.confirm_p ? PairedVerdict::regressed : by_interval(*suspects[i]);
  }
}

}  // namespace assay::ab
