#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/device/device.h"
#include "kernels/providers/assay_kernel.h"

namespace assay::providers {

/// Makes kernels of a provider for the tensors of a device. Kernels of one problem share what the
/// provider made for it: they differ in their addresses alone.
class ProvidedKernels {
 public:
  /// `table` must outlive all kernels.
  explicit ProvidedKernels(const assay_kernel_table& table) : table_(table) {}

  /// Throws DeviceError for a problem that the provider does not take, and for its failures.
  std::unique_ptr<Kernel> prepare(Device& device, const OpInstance& op, const Binding& binding);

 private:
  class Made;
  std::shared_ptr<Made> make(Device& device, const OpInstance& op, const Binding& binding);

  const assay_kernel_table& table_;
  std::map<std::string, std::weak_ptr<Made>> made_;  // by problem and device
};

}  // namespace assay::providers
