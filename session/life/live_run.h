#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "harness/plan/protocol.h"
#include "harness/records/run_info.h"
#include "harness/supervise/device_lock.h"
#include "harness/supervise/standby.h"
#include "harness/supervise/supervisor.h"
#include "reports/files/csv_file.h"
#include "reports/files/run_directory.h"
#include "reports/files/stored_run.h"
#include "session/options/selection_options.h"

namespace assay {

/// A run while it lives, from the probe of its machine to its end. The commands that take trials,
/// and the adapters to other runners, are variations of it.
struct LiveRun {
  RunInfo run;
  std::vector<BackendTraits> backends;  // of this machine
  Start start = Start::fresh;
  /// Lock of the run's files while they are read and written.
  std::optional<RunDirectoryLock> directory_lock;
  std::vector<DeviceLock> device_locks;
  std::shared_ptr<Standby> standby = {};  // the worker that listed the devices
  double before_s = 0;                    // time of the phases of earlier sessions

  /// Locks the devices, and takes signals for requests to end early. Says the run's notes. Throws
  /// DeviceBusy; with `wait` only if interrupted.
  void begin(bool wait);

  /// Makes and locks the directory of a new run: `out`, or, if that is empty, one in `parent` with
  /// the time and the host in its name. `out` may be that of a run that was killed before its first
  /// result if this one takes over: it begins anew then. Throws UsageError as claim_run_directory
  /// does.
  void make_directory(const std::filesystem::path& out, const std::filesystem::path& parent,
                      bool takes_over);

  /// How its trials are supervised, except for their time-out and what a variation adds.
  SupervisorOptions supervision(const SelectionOptions& selection, double cap_s = 0,
                                const std::filesystem::path& references = {}) const;

  /// Closes this session, in which `taken` trials ran, each attempt, and adds its times and counts
  /// to those of earlier ones. They do not contain the writing of the last reports.
  void end(const Supervisor& supervisor, std::int64_t taken);
};

/// Time since this process began, which is that of its session: a run has one process for each.
double session_s();

/// Describes a run on these devices of a machine that was probed; nothing is locked yet.
LiveRun live_run(const SelectionOptions& selection, const protocol::Hello& machine,
                 const std::vector<DeviceId>& devices);

/// Probes the machine for the devices of the selection. Throws UsageError and AbsentDevice.
LiveRun probe_run(const SelectionOptions& selection);

/// Refuses a stored run of another build: its options and cases may mean something else. Throws
/// UsageError.
void check_same_build(const StoredRun& stored);

/// The next session of a stored run, on the same devices, all of which must still be here, by name
/// and UUID. Throws UsageError and AbsentDevice.
LiveRun resume_run(const SelectionOptions& selection, const StoredRun& stored,
                   std::span<const DeviceCells> devices, std::shared_ptr<Standby> standby);

}  // namespace assay
