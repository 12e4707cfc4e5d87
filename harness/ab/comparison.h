#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/ab/paired_workers.h"
#include "harness/ab/rule.h"
#include "harness/plan/plan.h"
#include "harness/records/paired.h"
#include "kernels/device/device_info.h"

namespace assay::ab {

/// Where a comparison stands, told after each trial of each round.
struct Step {
  std::string_view stage;
  int round = 1;
  int rounds = 1;
  std::int64_t trial = 1;
  std::int64_t trials = 1;
};

struct Options {
  Rule rule;
  Both<WorkerCommand> commands;  // with --block of the rule's samples
  /// As both sides were seen to have them: a worker that finds another device in the place of one
  /// is not asked. Of what is not named here, the first worker of each round decides.
  std::vector<DeviceInfo> devices;
  double timeout_s = 120;  // of one trial on one side
  std::uint64_t seed = 1;  // of the order of the sides
  std::function<bool()> interrupted = [] { return false; };
  /// Told of each round of each case as it ends, then of where that leaves the comparison.
  std::function<void(const PairedRound&)> round = [](const PairedRound&) {};
  std::function<void(const Step&)> step = [](const Step&) {};
};

struct Outcome {
  /// In the order of the plan. When interrupted, those of which something is known by then: what is
  /// wrong or broken, and after the screening each.
  std::vector<PairedCase> cases;
  bool interrupted = false;
};

/// Compares two builds on every trial of a plan, all of which are timed. Each round starts both
/// afresh. A case that is not right on both sides takes no further rounds.
Outcome compare(std::span<const PlannedTrial> plan, const Options& options);

}  // namespace assay::ab
