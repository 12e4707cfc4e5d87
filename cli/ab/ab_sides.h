#pragma once

#include "cli/ab/ab_options.h"
#include "harness/plan/protocol.h"
#include "harness/records/paired_info.h"
#include "harness/supervise/worker_process.h"

namespace assay::cli {

/// One side of a comparison, once its program has said who it is.
struct AbSide {
  PairedSide info;
  protocol::Hello machine;
  SelectionOptions selection;

  /// Of its workers: with its environment, for so many samples a trial.
  WorkerCommand worker(int samples, const std::filesystem::path& references) const;
};

/// Which programs are compared, with which variables: decided by the options alone. Throws
/// UsageError, also where nothing differs between the sides and --aa was not asked for.
ab::Both<AbSide> sides_of(const AbOptions& options);

/// Starts a worker of the side and hears who it is. Throws UsageError where the program is not one
/// that this one can drive.
void probe_side(ab::Side side, AbSide& what);

/// Throws AbsentDevice where a device of the plan is not the same on both sides.
void check_same_devices(const ab::Both<AbSide>& sides, const std::vector<DeviceId>& devices);

/// Throws UsageError where one side is to have a fault and no simulated device is selected: no
/// other can have one.
void check_faults(const ab::Both<AbSide>& sides);

/// Whether both sides run the same bytes, those of the modules included: then no difference in
/// layout is between them.
bool is_same_program(const ab::Both<AbSide>& sides);

}  // namespace assay::cli
