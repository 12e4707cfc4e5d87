#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/records/record.h"
#include "harness/records/run_info.h"
#include "harness/supervise/supervisor.h"
#include "reports/text/outcomes.h"
#include "session/life/live_run.h"
#include "session/process/exit_code.h"
#include "session/run/run_options.h"

namespace assay {

/// Trials of a selection, taken one at a time, whenever and as often as another runner asks for
/// them. A worker of the `assay` beside this program executes each: its times are those of
/// `assay run`, and a crash or a hang is that trial's result.
class TrialByTrial {
 public:
  /// Plans; nothing is locked and nothing runs yet. Throws UsageError and AbsentDevice.
  explicit TrialByTrial(RunOptions options, Part part = Part::whole);

  const std::vector<PlannedTrial>& plan() const { return plan_; }
  const RunInfo& run() const { return live_.run; }
  const SelectionOptions& selection() const { return options_.selection; }

  /// Locks the devices, as `assay run` does, and takes INT and TERM for requests to end early.
  /// Throws DeviceBusy.
  void begin();

  /// Result of the i-th trial of the plan; nothing if the session was interrupted.
  std::optional<Record> take(std::size_t i);

  Tally tally() const { return outcomes_.tally(); }
  /// Exit code of the results so far, as for `assay run`: 3 if nothing ran.
  ExitCode exit_code() const;

 private:
  struct LastResult final : Sink {
    void result(const Result& result) override { record = result.record; }
    std::optional<Record> record;
  };

  RunOptions options_;
  Part part_;
  LiveRun live_;
  std::vector<PlannedTrial> plan_;
  std::vector<std::int64_t> taken_;  // counts by trial
  Outcomes outcomes_;
  LastResult last_;
  std::vector<Sink*> sinks_{&outcomes_, &last_};
  std::unique_ptr<Supervisor> supervisor_;
};

/// Exit code of a program whose library ran a session: never green if the library says otherwise.
/// An empty run says so on standard error.
int end_of(const TrialByTrial& session, bool library_is_content);

}  // namespace assay
