#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cli/exit_code.h"
#include "cli/run/run_options.h"
#include "harness/plan/plan.h"
#include "harness/records/record.h"
#include "harness/records/run_info.h"
#include "harness/supervise/device_lock.h"
#include "harness/supervise/supervisor.h"
#include "reports/outcomes.h"

namespace assay::cli {

/// The trials of a selection, taken one at a time, when and as often as another runner asks for
/// them. Each is executed by a worker of the `assay` beside this program: its times are those of
/// `assay run`, and a crash or a hang is that trial's result.
class Session {
 public:
  /// Plans; nothing is locked and nothing runs yet. Throws UsageError and AbsentDevice.
  explicit Session(RunOptions options, Part part = Part::whole);

  const std::vector<PlannedTrial>& plan() const { return plan_; }
  const RunInfo& run() const { return run_; }

  /// Locks the devices, as `assay run` does, and takes INT and TERM for requests to end early.
  /// Throws DeviceBusy.
  void begin();

  /// What became of the i-th trial of the plan; nothing when the session was interrupted.
  std::optional<Record> take(std::size_t i);

  Tally tally() const { return outcomes_.tally(); }
  /// What the results so far come to, as for `assay run`: 3 when nothing ran.
  ExitCode exit_code() const;

 private:
  struct LastResult final : Sink {
    void result(const Result& result) override { record = result.record; }
    std::optional<Record> record;
  };

  RunOptions options_;
  Part part_;
  RunInfo run_;
  std::vector<BackendTraits> backends_;
  std::vector<PlannedTrial> plan_;
  std::vector<std::int64_t> taken_;  // how often, of each trial
  std::vector<DeviceLock> locks_;
  Outcomes outcomes_;
  LastResult last_;
  std::vector<Sink*> sinks_{&outcomes_, &last_};
  std::unique_ptr<Supervisor> supervisor_;
};

/// The exit code of a program that ends with what a library made of a session: nobody may call
/// green what the library did not, and an empty run says on standard error that it is one.
int end_of(const Session& session, bool library_is_content);

}  // namespace assay::cli
