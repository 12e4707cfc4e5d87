#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/sim/fault.h"

namespace assay::sim {

/// The faults of one simulated device, and what they have broken.
class DeviceFaults {
 public:
  /// Those of `faults` that concern the device.
  DeviceFaults(std::span<const Fault> faults, int device);

  bool has(FaultKind kind) const;
  /// Throws the device's error once the device is broken.
  void check() const;
  /// Triggers the faults that concern the op. Call it before each launch.
  void before_launch(std::string_view op);
  /// First data fault that concerns the op; null if there is none.
  const DataFault* data_fault(std::string_view op) const;
  /// Fraction of its time by which a launch of the op takes longer; 0 on a device that is not slow.
  double slowness(std::string_view op) const;
  /// Share of the time that the clock of the device's events tells.
  double reported_share() const;

 private:
  std::vector<Fault> faults_;
  std::unique_ptr<DeviceError> broken_;
};

}  // namespace assay::sim
