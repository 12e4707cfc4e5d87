#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/execute/engine.h"
#include "harness/plan/case.h"
#include "kernels/cpu/backend.h"
#include "kernels/sim/backend.h"

namespace assay {

inline PlannedTrial planned(const std::string& case_id, std::vector<DeviceId> lane) {
  return {.test = parse_case_id(case_id), .lane = std::move(lane), .timing = ""};
}

/// Runs checks, without timing, on the CPU and on four simulated devices.
class Engines : public testing::Test {
 protected:
  Engines() : engine_(backends_, {}) {
    backends_.add(cpu::make_backend());
    backends_.add(sim::make_backend(4));
  }
  Record execute(const PlannedTrial& trial) {
    return engine_.execute(trial, [] {}).record;
  }

  Backends backends_;
  Engine engine_;
};

}  // namespace assay
