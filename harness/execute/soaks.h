#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "harness/execute/checks.h"
#include "harness/execute/reference_store.h"
#include "harness/execute/soak.h"
#include "harness/execute/verify_launch.h"
#include "harness/placement/devices.h"
#include "harness/plan/plan.h"
#include "harness/records/phases.h"
#include "harness/records/record.h"

namespace assay {

/// Tools that the engine lends to a soak.
struct SoakTools {
  std::uint64_t seed;
  const Checks& checks;
  ReferenceStore& references;
  PhaseClock& clock;
  /// Judges each pass of a trial and fills the record. Throws as a wrong result does.
  std::function<void(Trial& trial, Judge& judge, Record& record)> verify;
};

/// Soaks that stay open from one interval to the next, one for each case and device.
class Soaks {
 public:
  /// Runs one interval; the first one verifies the case before. Throws WrongResult and DeviceError.
  void run(const PlannedTrial& planned, placement::Place& place, const SoakTools& tools,
           Result& result);

 private:
  struct Open {
    Record verified;
    std::unique_ptr<Soak> soak;
  };
  Open& open(const PlannedTrial& planned, placement::Place& place, const SoakTools& tools,
             Result& result);

  std::map<std::string, Open> all_;  // by case and device
};

}  // namespace assay
