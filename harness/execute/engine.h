#pragma once

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
  placement::Devices devices_;
  Workshop shop_;
  Soaks soaks_;
};

}  // namespace assay
