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

/// One record to be: a case on a lane. Its key is (case id, device, timing, attempt, repeat).
struct PlannedTrial {
  Case test;
  std::vector<DeviceId> lane;
  std::string timing;  // "batch", "cold"; empty when only checked
  std::int64_t attempt = 1;
  std::int64_t repeat = 1;
  /// Not empty: applicable, but there are too few devices, and why. Becomes a `skip` row.
  std::string skip_reason;
};

/// Its devices as records name them: "cpu", "cuda:0+cuda:1" for a collective, "cuda:0>cuda:1" for a
/// copy, "cuda:0<>cuda:1" for one both ways.
std::string lane_text(const PlannedTrial& trial);

/// Fills in which trial a row is of: its key and what follows from its case.
void identify(Record& record, const PlannedTrial& trial, std::uint64_t seed);

/// Every case on every selected device that it applies to, lane by lane. A collective takes one
/// device of a backend for each rank, and an op that spans devices as many as it says, or one for
/// all where ranks share it; a copy from device to
/// device is taken from each to each other. With too few devices both are planned as a skip. Cases
/// that cannot apply to a device (a host copy on a GPU) are left out.
/// Each timing has a trial of its own; without any, cases are only checked, as those are that are
/// too small to be timed.
std::vector<PlannedTrial> make_plan(std::span<const Case> cases, std::span<const DeviceId> devices,
                                    std::span<const BackendTraits> backends,
                                    std::span<const std::string> timings);

}  // namespace assay
