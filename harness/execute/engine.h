#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "harness/execute/checks.h"
#include "harness/execute/reference_store.h"
#include "harness/execute/rotation.h"
#include "harness/execute/soaks.h"
#include "harness/execute/trial.h"
#include "harness/execute/verify_launch.h"
#include "harness/execute/yardsticks.h"
#include "harness/measure/sampler.h"
#include "harness/placement/devices.h"
#include "harness/plan/plan.h"
#include "harness/records/phases.h"
#include "harness/records/record.h"
#include "kernels/device/backends.h"
#include "kernels/ops/deviations.h"

namespace assay {

/// Options that hold for every trial of a run.
struct EngineOptions {
  std::uint64_t seed = 1;
  double cap_s = 2.0;     // limit for the measurement of one trial
  std::int64_t soak = 0;  // further launches of each trial; each is compared
  /// True if rows must keep their bits in smaller batches. Else timed trials find out whether.
  bool batch_invariant = false;
  /// True if the joules of launches are wanted: samples take longer, in no turns with a limit.
  bool energy = false;
  /// Number of samples of at least `long_sample_s` that time each trial, as `assay ab` does; 0:
  /// off.
  std::int64_t block = 0;
  Checks checks;
  /// Declared deviations of libraries, which pass; empty for a strict run.
  std::span<const Deviation> deviations = declared_deviations();
  /// True if each set of timed launches has inputs of its own, which no launch has seen
  /// (harness/execute/rotation.h).
  bool fresh_inputs = false;
  /// Decides the inputs of timed launches and which of them are judged; empty: drawn for each
  /// trial.
  std::optional<std::uint64_t> timed_seed = {};
  /// True if another process, with kernels that nobody vouches for, runs the launches.
  bool foreign_kernels = false;
  /// Folder in which the workers of a run share references; empty: no sharing.
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

  /// Never throws for a failing device: the record's status tells it.
  Result execute(const PlannedTrial& planned, const WaitForTurn& wait_for_turn);

 private:
  void run_steps(const PlannedTrial& planned, Trial& trial, std::span<placement::Place* const> lane,
                 const WaitForTurn& wait_for_turn, Result& result);
  void verify(const PlannedTrial& planned, Trial& trial, Judge& judge, Record& record,
              RankInputs& inputs, std::vector<HostTensor>& verified);

  /// Trial that is to be timed in turns with the planned one. Null for none, or without the memory
  /// for it. Throws std::runtime_error if its results are wrong.
  Trial* yardstick_of(const PlannedTrial& planned, placement::Place& place);
  /// Computes rows again in smaller batches. Throws WrongResult if their bits must stay and do not.
  void find_batch_invariance(const OpInstance& op, std::span<placement::Place* const> lane,
                             const RankInputs& inputs, const std::vector<HostTensor>& verified,
                             Record& record);
  /// Runs one interval of a soak.
  void run_soak(const PlannedTrial& planned, placement::Place& place, Result& result);
  measure::Measurement measure_trial(const PlannedTrial& planned, Trial& trial, Judge& judge,
                                     std::vector<RankInputs>& contents,
                                     const std::vector<HostTensor>& verified, Trial* yardstick,
                                     const WaitForTurn& wait_for_turn, Record& record);

  /// Power of the trial's devices while nothing runs; empty if they do not tell it. Measured once
  /// for each lane.
  std::optional<double> idle_power_w(const PlannedTrial& planned, const Trial& trial);

  placement::Devices devices_;
  std::map<std::string, std::optional<double>> idle_power_w_;  // by lane
  EngineOptions options_;
  ReferenceStore references_;
  Yardsticks yardsticks_;
  Soaks soaks_;
  PhaseClock clock_;  // phases of the open trial
};

}  // namespace assay
