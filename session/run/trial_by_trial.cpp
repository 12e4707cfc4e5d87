#include "session/run/trial_by_trial.h"

#include <utility>

#include "kernels/core/this_program.h"
#include "session/console/stderr_message.h"
#include "session/plan/select_trials.h"
#include "session/process/interrupt.h"
#include "suites/suite.h"

namespace assay {

TrialByTrial::TrialByTrial(RunOptions options, Part part)
    : options_(std::move(options)), part_(part) {
  SelectionOptions& selection = options_.selection;
  selection.program = this_program().parent_path() / "assay";
  SelectedTrials selected = select_trials(selection);
  live_ = live_run(selection, selected.machine, selected.devices);
  live_.standby = std::move(selected.standby);
  std::vector<std::string>& notes = live_.run.notes;
  notes.insert(notes.end(), selected.notes.begin(), selected.notes.end());
  plan_ = std::move(selected.plan);
  taken_.resize(plan_.size());
}

void TrialByTrial::begin() {
  live_.begin(options_.wait);
  SupervisorOptions supervision =
      live_.supervision(options_.selection, find_profile(options_.selection.cases.profile).cap_s);
  supervision.timeout_s = timeout_s(options_);
  supervision.replay_flags = replay_flags(options_);
  supervisor_ = std::make_unique<Supervisor>(std::move(supervision), live_.run, sinks_);
}

std::optional<Record> TrialByTrial::take(std::size_t i) {
  last_.record.reset();
  PlannedTrial trial = plan_[i];
  trial.repeat = ++taken_[i];
  supervisor_->execute({&trial, 1});
  return std::exchange(last_.record, std::nullopt);
}

ExitCode TrialByTrial::exit_code() const {
  return exit_code_of(outcomes_.tally(), !interrupted(), options_.allow_flaky, part_);
}

int end_of(const TrialByTrial& session, bool library_is_content) {
  ExitCode code = session.exit_code();
  if (interrupted()) say("assay: interrupted by signal {}\n", interrupting_signal());
  const Tally tally = session.tally();
  for (const auto& [cell, refusal] : tally.untested) {
    say("assay: untested: nothing ran of {}: {}\n", cell, refusal);
  }
  if (code == absent && tally.count(Status::skip) == tally.total) {
    say("assay: nothing ran, which is never green: exit code {}\n", int{absent});
  }
  if (!library_is_content && (code == ok || code == absent)) code = infrastructure;
  return code;
}

}  // namespace assay
