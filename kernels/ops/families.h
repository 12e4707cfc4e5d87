#pragma once

#include <span>
#include <vector>

#include "kernels/ops/op.h"

namespace assay {

/// The families: ops that share parameters, tensors and rules. Each is the function NAME_ops() of
/// the file NAME.cpp (scripts/cmake/assay_families.cmake).
std::span<std::vector<Op> (*const)()> ops_families();

}  // namespace assay
