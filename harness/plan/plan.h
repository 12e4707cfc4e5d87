#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "harness/records/record.h"
#include "kernels/device/backend_traits.h"
#include "kernels/device/device_id.h"
#include "kernels/device/device_info.h"

namespace assay {

/// The work that bounds a trial, to be timed in turns with it: what disturbs one disturbs the
/// other.
struct Yardstick {
  std::string case_id;  // of the limit; empty: none
  /// Launches of it that need as much of the limit as one launch of the trial: its shortest time.
  double launches = 0;
};

/// A future record: a case on a lane. Its key is (case id, device, timing, attempt, repeat).
struct PlannedTrial {
  Case test;
  std::vector<DeviceId> lane;
  std::string timing;  // "batch", "cold"; empty when only checked
  std::int64_t attempt = 1;
  std::int64_t repeat = 1;
  /// Reason if the case applies but devices are too few, or nothing can judge its op: the trial
  /// becomes a `skip` row. Else empty.
  std::string skip_reason;
  Yardstick yardstick = {};
  /// Seconds for which it launches and compares once it is verified (harness/execute/soak.h); 0: a
  /// plain trial. The worker keeps it open for its next interval.
  double soak_s = 0;
};

/// Names of its devices in records: "cpu", "cuda:0+cuda:1" for a collective, "cuda:0>cuda:1" for a
/// copy, "cuda:0<>cuda:1" for a copy both ways.
std::string lane_text(const PlannedTrial& trial);

/// Fills the columns that identify a row's trial: its key and the columns that follow from its
/// case.
void identify(Record& record, const PlannedTrial& trial, std::uint64_t seed);

/// Plans every case on every selected device that it applies to, lane by lane. A collective takes
/// one device of a backend for each rank; an op that spans devices takes its number of devices.
/// Ranks may share one device where the backend allows it. A copy between devices runs from each to
/// each other, or where it is not `on_each_pair` on the first pair alone. With too few devices both
/// become a skip. Leaves out cases that cannot apply to a device (a host copy on a GPU). Each
/// timing has its own trial. Without timings cases are only checked, and so are cases too small to
/// be timed.
std::vector<PlannedTrial> make_plan(std::span<const Case> cases, std::span<const DeviceId> devices,
                                    std::span<const BackendTraits> backends,
                                    std::span<const std::string> timings);

}  // namespace assay
