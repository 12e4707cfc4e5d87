#include "session/run/run_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/names.h"
#include "session/run/execution.h"

namespace assay {
namespace {

/// Says that a library has algorithms that were wrong: rows that did without them pass. Empty if
/// none has.
std::string wrong_algorithms_note(std::span<const Record> trials) {
  const auto has_any = [](const Record& trial) { return !trial.wrong_algorithms.empty(); };
  const auto first = std::ranges::find_if(trials, has_any);
  if (first == trials.end()) return {};
  return fmt::format(
      "a library's algorithms were wrong on exact data, in {} of {} rows "
      "(column wrong_algorithms); first in {} on {}: {}",
      std::ranges::count_if(trials, has_any), trials.size(), first->case_id, first->device,
      first->wrong_algorithms);
}

/// Says what the budget left out. Trials that it left out are not planned, unless it left a suite,
/// op or dtype untouched.
std::string budget_note(Job& job, const Outcomes& outcomes) {
  const LeftOut left = left_out(job.plan, outcomes);
  std::string note = fmt::format("the budget of {} s left out {} of {} trials",
                                 job.options.budget_s, left.trials, job.run.planned);
  if (left.untouched.empty()) {
    note += "; every suite, op and dtype was touched";
    job.run.planned -= left.trials;  // the budget defines the selection
  } else {
    // Hundreds where the budget is short: the rows that are missing tell the rest.
    constexpr std::ptrdiff_t max_named = 8;
    const std::vector<std::string> all(left.untouched.begin(), left.untouched.end());
    const std::ptrdiff_t named = std::min(max_named, std::ssize(all));
    note += "; never touched: " +
            join(std::vector<std::string>(all.begin(), all.begin() + named), ", ");
    if (named < std::ssize(all)) note += fmt::format(" and {} more", std::ssize(all) - named);
  }
  return note;
}

}  // namespace

void add_notes(Job& job, PlanEnd end, const Outcomes& outcomes, const Supervisor& supervisor,
               const ExpectedFailures& expected) {
  RunInfo& run = job.run;
  const std::vector<std::string> of_failures = expected.notes(outcomes.trials());
  run.notes.insert(run.notes.end(), of_failures.begin(), of_failures.end());
  if (std::string note = wrong_algorithms_note(outcomes.trials()); !note.empty()) {
    run.notes.push_back(std::move(note));
  }
  const Tally tally = outcomes.tally();
  for (const auto& [cell, refusal] : tally.untested) {
    run.notes.push_back(fmt::format("untested: nothing ran of {}: {}", cell, refusal));
  }
  if (end == PlanEnd::failed_fast) run.notes.emplace_back("ended by --fail-fast");
  if (end == PlanEnd::enough) run.notes.push_back(budget_note(job, outcomes));
  if (job.options.repeat > 1) {
    const std::string growth = supervisor.leak_monitor().text();
    if (!growth.empty()) run.notes.push_back(growth);
  }
  const bool has_energy = std::ranges::any_of(
      outcomes.trials(), [](const Record& trial) { return trial.energy_per_launch_j.has_value(); });
  if (job.options.selection.energy && !has_energy) {
    run.notes.emplace_back("no trial tells its joules: the column 'reason' says why");
  }
}

}  // namespace assay
