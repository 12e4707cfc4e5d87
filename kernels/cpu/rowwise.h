#pragma once

#include <memory>

#include "kernels/device/kernels.h"

// Ops on each row of (rows, cols), or on each line of (outer, n, 1).
namespace assay::cpu {

std::unique_ptr<Kernel> softmax_of_rows(const OpInstance& op, const Binding& binding);
std::unique_ptr<Kernel> layernorm_of_rows(const OpInstance& op, const Binding& binding);

}  // namespace assay::cpu
