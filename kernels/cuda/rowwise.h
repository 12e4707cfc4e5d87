#pragma once

#include <memory>

#include "kernels/device/kernels.h"

namespace assay::cuda {

/// Kernels of ops whose output has contiguous rows as its last two extents, or as its first two
/// before one of 1.
std::unique_ptr<Kernel> softmax_of_rows(const OpInstance& op, const Binding& binding);
std::unique_ptr<Kernel> layernorm_of_rows(const OpInstance& op, const Binding& binding);

}  // namespace assay::cuda
