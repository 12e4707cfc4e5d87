#pragma once

#include <stdexcept>

#include "reports/text/outcomes.h"

namespace assay {

/// Exit codes of the program. Several at once: wrong before infrastructure before regression
/// before undecided before absent.
enum ExitCode : int {
  ok = 0,
  wrong = 1,           // a result was fail, vacuous or (unless allowed) flaky
  usage = 2,           // decided before anything runs
  absent = 3,          // an absent device, or nothing that could run
  infrastructure = 4,  // crash, timeout, oom, device_lost, error, or a run cut short
  regression = 5,      // a confirmed performance regression
  undecided = 6,       // a comparison decided no case, and that was not to pass
};

/// A well-formed device that this machine does not have: exit 3.
struct AbsentDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Outcome of a session, as far as its exit code says it.
struct Ending {
  bool any_wrong = false;
  bool any_broken = false;
  bool completed = true;
  bool any_regression = false;
  bool is_undecided = false;
  bool any_missing = false;  // something that had to run did not
  bool any_right = false;
};

/// Never green: an empty session, and one that stopped before its end.
ExitCode exit_code_of(const Ending& ending);

/// Tells a shard from a whole selection: another shard may have run the skipped trials.
enum class Part { whole, shard };

/// Never green either: a run that ran nothing of an op and dtype because a library refused it.
ExitCode exit_code_of(const Tally& tally, bool completed, bool allow_flaky,
                      Part part = Part::whole);

/// The exit code of a run with `exit_code` after which something else failed, such as a report.
int with_infrastructure_failure(int exit_code);

}  // namespace assay
