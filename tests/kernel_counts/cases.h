#pragma once

#include <string>
#include <vector>

#include "harness/plan/case.h"

namespace assay::kernel_counts {

/// A contiguous case of every op and dtype of tensor_ops with kernels of our own or of CUB, large
/// enough that starts and ends of the tensors do not count; those whose id matches the expression.
/// Throws UsageError.
std::vector<Case> contiguous_cases(const std::string& filter);

}  // namespace assay::kernel_counts
