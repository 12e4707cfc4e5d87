#pragma once

#include <memory>

#include "kernels/cpu/kernels.h"

namespace assay::cpu {

/// Copies elements as they are between tensors of different strides.
std::unique_ptr<Kernel> strided_copy(const OpInstance& op, const Binding& binding);

}  // namespace assay::cpu
