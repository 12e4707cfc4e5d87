#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "harness/measure/sampler.h"
#include "harness/record.h"
#include "harness/run/plan.h"
#include "kernels/base/backends.h"

namespace assay {

/// How each trial of a run is executed, the same for all.
struct EngineOptions {
  std::uint64_t seed = 1;
  double cap_s = 2.0;  // of the measurement of one trial
};

/// Executes trials in this process, one at a time: verify on exact data, verify on real data,
/// measure, verify what was measured. Devices stay open between trials.
class Engine {
 public:
  Engine(const Backends& backends, const EngineOptions& options)
      : backends_(backends), options_(options) {}

  /// Never throws for what a device does: that is a status of the record.
  Result execute(const PlannedTrial& planned);

 private:
  Device& open(const DeviceId& id);

  const Backends& backends_;
  EngineOptions options_;
  std::map<DeviceId, std::unique_ptr<Device>> devices_;
};

}  // namespace assay
