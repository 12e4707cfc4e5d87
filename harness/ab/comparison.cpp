#include "harness/ab/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "harness/ab/judge.h"
#include "harness/records/skip_category.h"
#include "harness/statistics/order_statistics.h"
#include "harness/supervise/affinity.h"
#include "kernels/core/clock.h"
#include "kernels/core/names.h"

namespace assay::ab {
namespace {

bool is_disturbed(const Record& record) {
  return record.contended.value_or(false) || record.throttled.value_or(false);
}

/// True where the build, its libraries or the machine lacks the case. Too little memory does not
/// count: the next round may find enough.
bool lacks_case(const Record& record) {
  return record.skip_category == SkipCategory::not_built ||
         record.skip_category == SkipCategory::unsupported ||
         record.skip_category == SkipCategory::not_here;
}

/// Verdict of a round in which a side skipped. A case that was timed on both sides earlier is not
/// one that a side lacks. Only an older base build may lack a case of the candidate; a library that
/// the base does not find is no excuse for a missing baseline.
PairedVerdict verdict_of_skip(const Record& base, const Record& cand, bool was_timed) {
  const bool base_skips = base.status == Status::skip;
  const bool cand_skips = cand.status == Status::skip;
  if (was_timed) return PairedVerdict::broken;
  if (base_skips && cand_skips) return PairedVerdict::skipped;
  if (cand_skips) return lacks_case(cand) ? PairedVerdict::missing : PairedVerdict::broken;
  return base.skip_category == SkipCategory::not_built ? PairedVerdict::added
                                                       : PairedVerdict::broken;
}

/// Verdict of a round without times on both sides; empty if both have times. `was_timed`: in an
/// earlier round.
std::optional<PairedVerdict> verdict_without_times(const Both<Result>& results, bool was_timed) {
  const Record& base = results.base.record;
  const Record& cand = results.cand.record;
  const auto any = [&](StatusClass what) {
    return class_of(base.status) == what || class_of(cand.status) == what;
  };
  if (any(StatusClass::wrong)) return PairedVerdict::wrong;
  if (any(StatusClass::broken)) return PairedVerdict::broken;
  if (any(StatusClass::skipped)) return verdict_of_skip(base, cand, was_timed);
  const bool timed = base.time_median_s.value_or(0) > 0 && cand.time_median_s.value_or(0) > 0;
  return timed ? std::nullopt : std::optional(PairedVerdict::broken);
}

std::string reason_of(const Both<Result>& results) {
  std::string text;
  for (const Side side : {Side::base, Side::cand}) {
    const Record& record = results[side].record;
    if (record.status == Status::pass && record.time_median_s.value_or(0) > 0) continue;
    const std::string why = record.status == Status::pass
                                ? "passed without a time above zero"
                                : fmt::format("{}: {}", name(record.status), record.reason);
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name(side), why);
  }
  return text;
}

/// One case on its way through the comparison.
struct Contest {
  PlannedTrial trial;
  PairedCase result;
  Side first = Side::base;         // of the last round
  bool is_over = false;            // without times
  bool was_timed = false;          // in some round
  std::vector<double> log_ratios;  // current stage only
  Both<std::vector<double>> medians_s;
  std::int64_t disturbed_rounds = 0;

  explicit Contest(const PlannedTrial& planned) : trial(planned) {
    result.case_id = trial.test.id();
    result.device = lane_text(trial);
    result.timing = trial.timing;
  }

  void begin_stage() {
    log_ratios.clear();
    medians_s = {};
    disturbed_rounds = 0;
  }

  void take(const Both<Result>& results) {
    if (const auto verdict = verdict_without_times(results, was_timed)) {
      is_over = true;
      const PairedCase without_times{.case_id = result.case_id,
                                     .device = result.device,
                                     .timing = result.timing,
                                     .verdict = *verdict,
                                     .reason = reason_of(results)};
      result = without_times;
      return;
    }
    was_timed = true;
    result.base_implementation = results.base.record.implementation;
    result.cand_implementation = results.cand.record.implementation;
    const double base_s = *results.base.record.time_median_s;
    const double cand_s = *results.cand.record.time_median_s;
    log_ratios.push_back(std::log(cand_s / base_s));
    medians_s.base.push_back(base_s);
    medians_s.cand.push_back(cand_s);
    if (is_disturbed(results.base.record) || is_disturbed(results.cand.record)) ++disturbed_rounds;
  }

  void fill_medians() {
    result.base_median_s = statistics::median(medians_s.base);
    result.cand_median_s = statistics::median(medians_s.cand);
    result.disturbed_rounds = disturbed_rounds;
  }
};

PairedRound round_row(const Contest& contest, std::string_view stage, int round, Side first,
                      const Both<Result>& results, const std::string& started_at) {
  PairedRound row{.case_id = contest.result.case_id,
                  .device = contest.result.device,
                  .timing = contest.trial.timing,
                  .stage = std::string(stage),
                  .round = round,
                  .first = std::string(name(first))};
  const Record& base = results.base.record;
  const Record& cand = results.cand.record;
  row.base_status = base.status;
  row.cand_status = cand.status;
  row.base_median_s = base.time_median_s;
  row.cand_median_s = cand.time_median_s;
  row.base_samples = base.samples;
  row.cand_samples = cand.samples;
  if (base.time_median_s) row.base_disturbed = is_disturbed(base);
  if (cand.time_median_s) row.cand_disturbed = is_disturbed(cand);
  row.reason = reason_of(results);
  row.started_at = started_at;
  return row;
}

/// Draws which side of a case is verified and timed first: a coin for each odd round, the other
/// side in the even round after it. On a GPU that place alone can decide 10% of a time, as it
/// decides where in the memory the data lie (docs/ab.md).
class OrderOfSides {
 public:
  explicit OrderOfSides(std::uint64_t seed) : random_(seed) {}

  Side first(int round, Side last_first) {
    if (round % 2 == 0) return other(last_first);
    return (random_() >> 63) == 0 ? Side::base : Side::cand;
  }

 private:
  std::mt19937_64 random_;
};

/// Takes the rounds of both stages.
class Comparison {
 public:
  explicit Comparison(const Options& options) : options_(options), order_(options.seed) {}

  /// False when interrupted.
  bool take_rounds(std::string_view stage, int rounds, const std::vector<Contest*>& contests) {
    for (Contest* contest : contests) contest->begin_stage();
    for (int round = 1; round <= rounds; ++round) {
      if (!take_round({stage, round, rounds, 0, std::ssize(contests)}, contests)) return false;
    }
    return true;
  }

 private:
  bool take_round(Step step, const std::vector<Contest*>& contests) {
    std::unique_ptr<PairedWorkers> duel;  // at most one: idle workers hold memory
    const std::vector<DeviceId>* lane = nullptr;
    for (Contest* contest : contests) {
      ++step.trial;
      if (contest->is_over) continue;
      if (lane == nullptr || *lane != contest->trial.lane) {
        duel.reset();
        duel =
            std::make_unique<PairedWorkers>(contest->trial.lane, uuids_of(contest->trial.lane),
                                            commands_for(contest->trial.lane), options_.timeout_s);
        lane = &contest->trial.lane;
      }
      contest->first = order_.first(step.round, contest->first);
      const Side first = contest->first;
      const std::string started_at = utc_now();
      const auto results = duel->measure(contest->trial, first, options_.interrupted);
      if (!results) return false;
      options_.round(round_row(*contest, step.stage, step.round, first, *results, started_at));
      contest->take(*results);
      options_.step(step);
    }
    return true;
  }

  Both<WorkerCommand> commands_for(const std::vector<DeviceId>& lane) const {
    Both<WorkerCommand> commands = options_.commands;
    commands.base.processors = nearest_processors(lane, options_.devices);
    commands.cand.processors = commands.base.processors;
    return commands;
  }
  /// Returns nothing if any UUID is not known.
  std::vector<std::string> uuids_of(const std::vector<DeviceId>& lane) const {
    std::vector<std::string> uuids;
    for (const DeviceId& id : lane) {
      const auto known = std::ranges::find(options_.devices, to_text(id), &DeviceInfo::device);
      if (known == options_.devices.end()) return {};
      uuids.push_back(known->uuid);
    }
    return uuids;
  }

  const Options& options_;
  OrderOfSides order_;
};

}  // namespace

Outcome compare(std::span<const PlannedTrial> plan, const Options& options) {
  const Rule& rule = options.rule;
  check(rule, std::ssize(plan));
  std::vector<Contest> contests(plan.begin(), plan.end());
  std::vector<Contest*> all;
  for (Contest& contest : contests) all.push_back(&contest);
  Comparison comparison(options);
  Outcome outcome;

  outcome.interrupted = !comparison.take_rounds(screen_stage, rule.screen_rounds, all);
  if (outcome.interrupted) {
    for (Contest& contest : contests) {
      if (contest.is_over) outcome.cases.push_back(std::move(contest.result));
    }
    return outcome;
  }
  std::vector<Contest*> suspects;
  for (Contest* contest : all) {
    if (contest->is_over) continue;
    contest->fill_medians();
    if (judge_screen(rule, contest->log_ratios, contest->result)) suspects.push_back(contest);
  }

  outcome.interrupted = !comparison.take_rounds(confirm_stage, rule.confirm_rounds, suspects);
  if (outcome.interrupted) {
    for (Contest* suspect : suspects) {
      if (!suspect->is_over) suspect->result.reason = "a suspect that was not confirmed any more";
    }
  } else {
    std::vector<PairedCase*> confirmed;
    for (Contest* suspect : suspects) {
      if (suspect->is_over) continue;
      suspect->fill_medians();
      judge_confirm(rule, suspect->log_ratios, suspect->result);
      confirmed.push_back(&suspect->result);
    }
    judge_suspects(rule, confirmed);
  }
  for (Contest& contest : contests) outcome.cases.push_back(std::move(contest.result));
  return outcome;
}

}  // namespace assay::ab
