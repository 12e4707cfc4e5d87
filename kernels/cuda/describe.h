#pragma once

#include <string>
#include <vector>

#include "kernels/device/backend.h"

namespace assay::cuda {

/// "GPU-8f3b...", as nvidia-smi prints it. Throws DeviceError.
std::string uuid_of(int ordinal);
std::string uuid_text(const unsigned char (&bytes)[16], bool is_mig_slice);

/// "13.0" of 13000: how the runtime and the driver number their versions.
std::string version_text(int version);

/// Every visible GPU in logical order, CUDA_VISIBLE_DEVICES applied; none where there is no driver.
/// Creates no context.
std::vector<DeviceInfo> describe_gpus();

/// What CUDA_VISIBLE_DEVICES chooses from.
Visibility visible_gpus();

/// Why there is no GPU, or what those that there are have to do without.
std::vector<std::string> missing_parts();

}  // namespace assay::cuda
