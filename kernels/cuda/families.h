#pragma once

#include <span>

#include "kernels/device/kernels.h"

namespace assay::cuda {

/// Kernels, by family: the function NAME_kernels() of each file NAME.cu that has one.
std::span<std::span<const KernelRow> (*const)()> kernels_families();

}  // namespace assay::cuda
