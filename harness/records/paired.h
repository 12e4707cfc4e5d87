#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "harness/records/record.h"

// Records of a comparison of two builds, base and candidate. docs/csv.md documents each column.
namespace assay {

/// Verdict of a comparison on one case. Texts use the names of the enumerators.
enum class PairedVerdict {
  regressed,     // confirmed: slower by more than the margin
  improved,      // the interval lies beyond the margin
  equivalent,    // the interval lies within the margin
  inconclusive,  // neither is shown
  wrong,         // a wrong result of either side: it has no times
  broken,        // a crash, a time-out or another failure of either side
  missing,       // the candidate cannot run what the base can
  added,         // the base cannot run it: no baseline
  skipped,       // neither can
};

std::span<const PairedVerdict> all_paired_verdicts();
std::string_view name(PairedVerdict verdict);
inline std::span<const PairedVerdict> enumerators(PairedVerdict /*of*/) {
  return all_paired_verdicts();
}

/// Two parts of a comparison: rounds of all cases, then fresh rounds of cases that looked slower.
inline constexpr std::string_view screen_stage = "screen";
inline constexpr std::string_view confirm_stage = "confirm";

/// Both sides of one case, timed back to back by one worker each, started for this round. A row of
/// rounds.csv.
struct PairedRound {
  std::string case_id;
  std::string device;
  std::string timing;
  std::string stage;
  std::int64_t round = 1;
  std::string first;  // the side that was timed first
  Status base_status = Status::error;
  Status cand_status = Status::error;
  std::optional<double> base_median_s;  // one launch
  std::optional<double> cand_median_s;
  std::optional<std::int64_t> base_samples;
  std::optional<std::int64_t> cand_samples;
  std::optional<bool> base_disturbed;  // contended or throttled
  std::optional<bool> cand_disturbed;
  std::string reason;  // if a status is not pass
  std::string started_at;
};

template <class R, class Visitor>
void visit_fields(R& r,
                  Visitor&& visit) requires std::same_as<std::remove_const_t<R>, PairedRound> {
  visit("case_id", r.case_id);
  visit("device", r.device);
  visit("timing", r.timing);
  visit("stage", r.stage);
  visit("round", r.round);
  visit("first", r.first);
  visit("base_status", r.base_status);
  visit("cand_status", r.cand_status);
  visit("base_median_s", r.base_median_s);
  visit("cand_median_s", r.cand_median_s);
  visit("base_samples", r.base_samples);
  visit("cand_samples", r.cand_samples);
  visit("base_disturbed", r.base_disturbed);
  visit("cand_disturbed", r.cand_disturbed);
  visit("reason", r.reason);
  visit("started_at", r.started_at);
}

/// Result of all rounds of one case. A row of ab.csv.
struct PairedCase {
  std::string case_id;
  std::string device;
  std::string timing;
  PairedVerdict verdict = PairedVerdict::inconclusive;
  std::string reason;               // if the verdict is not about times
  std::optional<double> ratio;      // candidate's time to the base's, Hodges-Lehmann
  std::optional<double> ratio_low;  // 95% signed-rank interval
  std::optional<double> ratio_high;
  std::string stage;  // whose rounds give the ratio
  std::optional<std::int64_t> rounds;
  std::optional<double> margin;    // 0.02: up to 2% slower is not a regression
  std::optional<double> p_screen;  // null hypothesis: the ratio is within the margin
  std::optional<double> p_confirm;
  std::optional<double> p_holm;  // adjusted for all suspects
  std::optional<double> base_median_s;
  std::optional<double> cand_median_s;
  std::optional<std::int64_t> disturbed_rounds;
  std::string base_implementation;
  std::string cand_implementation;
};

template <class C, class Visitor>
void visit_fields(C& c, Visitor&& visit) requires std::same_as<std::remove_const_t<C>, PairedCase> {
  visit("case_id", c.case_id);
  visit("device", c.device);
  visit("timing", c.timing);
  visit("verdict", c.verdict);
  visit("reason", c.reason);
  visit("ratio", c.ratio);
  visit("ratio_low", c.ratio_low);
  visit("ratio_high", c.ratio_high);
  visit("stage", c.stage);
  visit("rounds", c.rounds);
  visit("margin", c.margin);
  visit("p_screen", c.p_screen);
  visit("p_confirm", c.p_confirm);
  visit("p_holm", c.p_holm);
  visit("base_median_s", c.base_median_s);
  visit("cand_median_s", c.cand_median_s);
  visit("disturbed_rounds", c.disturbed_rounds);
  visit("base_implementation", c.base_implementation);
  visit("cand_implementation", c.cand_implementation);
}

}  // namespace assay
