#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/device/device.h"
#include "kernels/sim/device_faults.h"
#include "kernels/sim/launch.h"

namespace assay::sim {

/// An op on simulated devices, with the faults of one for each rank: the CPU's kernel, perhaps
/// replaced by a fault.
class SimKernel final : public Kernel {
 public:
  /// `bindings` hold host addresses; `prepare` makes CPU kernels.
  SimKernel(std::vector<DeviceFaults*> faults, const OpInstance& op, std::vector<Binding> bindings,
            Launch::Prepare prepare);
  void launch() override;
  std::string implementation() const override { return right_->implementation(); }
  MathMode math_mode() const override;

 private:
  const DataFault* fault() const;
  bool takes_part(std::size_t rank) const;
  void launch_right();
  void strike(const DataFault& fault);

  std::vector<DeviceFaults*> faults_;
  OpInstance op_;
  std::vector<Binding> bindings_;
  Launch::Prepare prepare_;
  std::unique_ptr<Kernel> right_;
  History history_;
};

}  // namespace assay::sim
