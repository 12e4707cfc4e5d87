#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/backend.h"

namespace assay::cuda {

/// "GPU-8f3b...", as nvidia-smi prints it. Throws DeviceError.
std::string uuid_of(int ordinal);
std::string uuid_text(const unsigned char (&bytes)[16], bool is_mig_slice);

/// The newest CUDA that the driver serves: 13000; 0 without a driver.
int driver_version();

/// Whether the host's kernel is that of WSL2: "5.15.153.1-microsoft-standard-WSL2".
bool is_wsl2(std::string_view kernel_release);

/// Formats a version number of the runtime or the driver: "13.0" for 13000.
std::string version_text(int version);

/// Describes every visible GPU in logical order, after CUDA_VISIBLE_DEVICES. Empty without a
/// driver. Creates no context.
std::vector<DeviceInfo> describe_gpus();

/// Devices that CUDA_VISIBLE_DEVICES selects from.
Visibility visible_gpus();

/// Reasons why there is no GPU, or which libraries the present GPUs lack.
std::vector<std::string> missing_parts();

}  // namespace assay::cuda
