#pragma once

#include <cuda_runtime_api.h>

#include <optional>

namespace emulator {

/// Limits of textures and surfaces: programming guide, "Technical Specifications per Compute
/// Capability". Equal on all GPUs of compute capability 6.0 and higher.
std::optional<int> image_limit(cudaDeviceAttr attribute);
void describe_image_limits(cudaDeviceProp& properties);

}  // namespace emulator
