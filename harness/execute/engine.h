#pragma once

#include <span>

#include "harness/execute/engine_options.h"
#include "harness/execute/soaks.h"
#include "harness/execute/work.h"
#include "harness/placement/devices.h"
#include "harness/plan/plan.h"
#include "harness/records/record.h"
#include "kernels/device/backends.h"

namespace assay {

/// Executes trials in this process, one at a time, step by step (harness/execute/steps.h). Devices
/// stay open between trials.
class Engine {
 public:
  Engine(const Backends& backends, const EngineOptions& options)
      : devices_(backends), shop_{.options = options} {}

  /// Never throws for a failing device: the record's status tells it.
  Result execute(const PlannedTrial& planned, const WaitForTurn& wait_for_turn);

 private:
  /// Verifies and times the planned trial, step by step. Throws what ends it with another status.
  void take(const PlannedTrial& planned, std::span<placement::Place* const> lane,
            const WaitForTurn& wait_for_turn, Result& result);

  placement::Devices devices_;
  Workshop shop_;
  Soaks soaks_;
};

}  // namespace assay
