#pragma once

#include "harness/plan/protocol.h"
#include "harness/records/paired_info.h"
#include "harness/supervise/worker_process.h"
#include "session/ab/ab_options.h"

namespace assay {

/// One side of a comparison. Complete once its program has told its build.
struct AbSide {
  PairedSide info;
  protocol::Hello machine;
  SelectionOptions selection;

  /// Returns the command of its workers, with its environment, for `samples` samples a trial.
  WorkerCommand worker(int samples, const std::filesystem::path& references) const;
};

/// Takes programs and variables from the options alone. Throws UsageError, also if nothing differs
/// between the sides without --aa.
ab::Both<AbSide> sides_of(const AbOptions& options);

/// Starts a worker of the side and reads its hello. Throws UsageError if this program cannot drive
/// that one.
void probe_side(ab::Side side, AbSide& what);

/// Throws AbsentDevice if a device of the plan differs between the sides.
void check_same_devices(const ab::Both<AbSide>& sides, const std::vector<DeviceId>& devices);

/// Throws AbsentDevice if a device does not admit the processes of both sides.
void check_processes(const std::vector<DeviceInfo>& devices);

/// Throws UsageError if one side is to have a fault and no simulated device is selected: no other
/// device can have one.
void check_faults(const ab::Both<AbSide>& sides);

/// Returns whether a side runs kernels of others.
bool has_foreign_kernels(const ab::Both<AbSide>& sides);

/// Returns whether both sides run the same bytes, modules included: then their layout is the same.
bool is_same_program(const ab::Both<AbSide>& sides);

}  // namespace assay
