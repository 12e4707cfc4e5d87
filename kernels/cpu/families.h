#pragma once

#include <span>

#include "kernels/device/kernels.h"

namespace assay::cpu {

/// Kernels, by family: the function NAME_kernels() of each file NAME.cpp that has one.
std::span<std::span<const KernelRow> (*const)()> kernels_families();

}  // namespace assay::cpu
