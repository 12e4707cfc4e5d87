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

/// Progress of a comparison, told after each trial of each round.
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
  /// Devices as both sides reported them. A worker that finds another device in the place of one
  /// gets no trials. For a device that is not listed, the first worker of each round decides.
  std::vector<DeviceInfo> devices;
  double timeout_s = 120;  // limit for one trial on one side
  std::uint64_t seed = 1;  // draws the order of the sides
  std::function<bool()> interrupted = [] { return false; };
  /// `round` hears each round of each case as it ends; `step` then hears the progress.
  std::function<void(const PairedRound&)> round = [](const PairedRound&) {};
  std::function<void(const Step&)> step = [](const Step&) {};
};

struct Outcome {
  /// Cases in the order of the plan. When interrupted, only those with a finding so far: wrong and
  /// broken ones, and after the screening all.
  std::vector<PairedCase> cases;
  bool interrupted = false;
};

/// Compares two builds on every trial of a plan, all of which are timed. Each round starts fresh
/// workers. A case that is not right on both sides takes no further rounds.
Outcome compare(std::span<const PlannedTrial> plan, const Options& options);

}  // namespace assay::ab
