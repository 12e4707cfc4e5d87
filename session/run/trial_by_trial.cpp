#include "session/run/trial_by_trial.h"

#include <filesystem>
#include <utility>

#include "kernels/core/this_program.h"
#include "session/console/stderr_message.h"
#include "session/life/describe_run.h"
#include "session/machine/lock_devices.h"
#include "session/plan/select_trials.h"
#include "session/process/interrupt.h"
#include "session/workers/worker_command.h"
#include "suites/suite.h"

namespace assay::cli {

Session::Session(RunOptions options, Part part) : options_(std::move(options)), part_(part) {
  SelectionOptions& selection = options_.selection;
  selection.program = this_program().parent_path() / "assay";
  SelectedTrials selected = select_trials(selection);
  run_ = describe_run(selection, selected.devices, selected.machine);
  run_.notes.insert(run_.notes.end(), selected.notes.begin(), selected.notes.end());
  backends_ = std::move(selected.machine.backends);
  plan_ = std::move(selected.plan);
  taken_.resize(plan_.size());
}

void Session::begin() {
  catch_interrupts();
  for (const std::string& note : run_.notes) say("note: {}\n", note);
  locks_ = lock_devices(run_.devices, backends_, options_.wait);
  const double cap_s = find_profile(options_.selection.cases.profile).cap_s;
  supervisor_ = std::make_unique<Supervisor>(
      SupervisorOptions{.worker = worker_command(options_.selection, cap_s),
                        .for_lane = share_cores_on,
                        .backends = backends_,
                        .timeout_s = timeout_s(options_),
                        .seed = options_.selection.seed,
                        .replay_flags = replay_flags(options_),
                        .interrupted = interrupted},
      run_, sinks_);
}

std::optional<Record> Session::take(std::size_t i) {
  last_.record.reset();
  PlannedTrial trial = plan_[i];
  trial.repeat = ++taken_[i];
  supervisor_->execute({&trial, 1});
  return std::exchange(last_.record, std::nullopt);
}

ExitCode Session::exit_code() const {
  return exit_code_of(outcomes_.tally(), !interrupted(), options_.allow_flaky, part_);
}

int end_of(const Session& session, bool library_is_content) {
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

}  // namespace assay::cli
