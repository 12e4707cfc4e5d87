#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/execute/clock_check.h"
#include "harness/execute/engine_options.h"
#include "harness/execute/reference_store.h"
#include "harness/execute/rotation.h"
#include "harness/execute/timed_judge.h"
#include "harness/execute/trial.h"
#include "harness/execute/verify_launch.h"
#include "harness/execute/yardsticks.h"
#include "harness/measure/sampler.h"
#include "harness/placement/devices.h"
#include "harness/plan/plan.h"
#include "harness/records/phases.h"
#include "harness/records/record.h"

namespace assay {

/// Belongings that an engine keeps from one trial to the next.
struct Workshop {
  EngineOptions options;
  ReferenceStore references{options.shared_references()};
  Yardsticks yardsticks;
  /// Power of a lane's devices while nothing runs; empty if they do not tell it.
  std::map<std::string, std::optional<double>> idle_power_w;
  PhaseClock clock{};  // phases of the open trial
};

/// Called when a trial is verified and is to be timed; returns when nothing else runs.
using WaitForTurn = std::function<void()>;

/// One trial on its way through the steps (harness/execute/steps.h), and what each leaves for those
/// after it.
struct Work {
  Workshop& shop;
  const PlannedTrial& planned;
  std::span<placement::Place* const> lane;
  Trial& trial;
  Judge& judge;
  const WaitForTurn& wait_for_turn;
  Result& result;  // filled on the way: earlier findings survive an error

  std::vector<RankInputs> contents =
      std::vector<RankInputs>(1);    // of each set of tensors, or of all
  std::vector<HostTensor> verified;  // right outputs of the last pass, one a rank
  Trial* yardstick = nullptr;        // timed in turns with the trial; null: none
  /// Inputs of timed launches, and the judge of what they leave. Empty for a scenario, whose steps
  /// judge themselves.
  std::optional<Rotation> rotation;
  std::optional<TimedJudge> timed_judge;
  std::optional<ClockCheck> clock_check;
  measure::Measurement measurement;

  const OpInstance& op() const { return planned.test.op; }
  const EngineOptions& options() const { return shop.options; }
  Record& record() const { return result.record; }
  bool is_timed() const { return !planned.timing.empty(); }
  bool is_cold() const { return planned.timing == cold_timing; }
  void enter(double PhaseSeconds::*phase) const { shop.clock.enter(phase); }
};

}  // namespace assay
