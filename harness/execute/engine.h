#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "harness/execute/checks.h"
#include "harness/execute/reference_store.h"
#include "harness/execute/trial.h"
#include "harness/measure/sampler.h"
#include "harness/placement/devices.h"
#include "harness/plan/plan.h"
#include "harness/records/phases.h"
#include "harness/records/record.h"
#include "kernels/device/backends.h"
#include "kernels/ops/deviations.h"

namespace assay {

/// How each trial of a run is executed, the same for all.
struct EngineOptions {
  std::uint64_t seed = 1;
  double cap_s = 2.0;     // of the measurement of one trial
  std::int64_t soak = 0;  // further launches of each trial, of which every one is compared
  /// Not 0: each trial is timed by so many samples of at least `block_sample_s`, as `assay ab`
  /// does.
  std::int64_t block = 0;
  Checks checks;
  /// Of those that are declared, what libraries give passes; of none where a run is strict.
  std::span<const Deviation> deviations = declared_deviations();
  /// Where workers of a run share references; empty: they do not.
  std::filesystem::path references;
};

/// Executes trials in this process, one at a time: verify on exact data, verify on real data,
/// measure, verify what was measured. Devices stay open between trials.
class Engine {
 public:
  Engine(const Backends& backends, const EngineOptions& options)
      : devices_(backends), options_(options), references_(options.references) {}

  /// Called when a trial is verified and is to be timed; returns when nothing else runs.
  using WaitForTurn = std::function<void()>;

  /// Never throws for what a device does: that is a status of the record.
  Result execute(const PlannedTrial& planned, const WaitForTurn& wait_for_turn);

 private:
  void run_steps(const PlannedTrial& planned, Trial& trial, const WaitForTurn& wait_for_turn,
                 Result& result);
  void verify(const PlannedTrial& planned, Trial& trial, Record& record, RankInputs& inputs,
              std::vector<HostTensor>& verified);

  placement::Devices devices_;
  EngineOptions options_;
  ReferenceStore references_;
  PhaseClock clock_;  // of the open trial
};

}  // namespace assay
