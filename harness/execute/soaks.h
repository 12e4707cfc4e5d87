#pragma once

#include <map>
#include <memory>
#include <string>

#include "harness/execute/soak.h"
#include "harness/execute/work.h"
#include "harness/placement/devices.h"
#include "harness/plan/plan.h"
#include "harness/records/record.h"

namespace assay {

/// Soaks that stay open from one interval to the next, one for each case and device.
class Soaks {
 public:
  /// Runs one interval; the first one verifies the case before. Throws WrongResult and DeviceError.
  void run(const PlannedTrial& planned, placement::Place& place, Workshop& shop, Result& result);

 private:
  struct Open {
    Record verified;
    std::unique_ptr<Soak> soak;
  };
  Open& open(const PlannedTrial& planned, placement::Place& place, Workshop& shop, Result& result);

  std::map<std::string, Open> all_;  // by case and device
};

}  // namespace assay
