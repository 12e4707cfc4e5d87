#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device/backend.h"
#include "kernels/providers/assay_kernel.h"

// Devices that a provider of kernels drives itself, where no backend of ours reaches the hardware.
namespace assay::providers {

struct OwnDevice {
  std::string kind;  // "torch:xpu"
  std::string name;  // of the product
};

/// The devices of the table, in order. Throws UsageError for one whose name is no device's, or
/// whose functions are not all there.
std::vector<OwnDevice> read_own_devices(const assay_kernel_table& table);

/// Facts known before it is opened; `index` is among those of its kind.
DeviceInfo own_info(const OwnDevice& device, std::int64_t index);

/// Those of one kind as a backend of the process in which the kernels run; `table` must outlive it.
std::unique_ptr<Backend> own_backend(const assay_kernel_table& table, const std::string& kind);

/// Facts of a kind for the judge. Left out of `all` where a backend of ours has the same devices.
BackendTraits own_traits(const std::string& kind, bool is_ours_too);

}  // namespace assay::providers
