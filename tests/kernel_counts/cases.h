#pragma once

#include <string>
#include <vector>

#include "harness/plan/case.h"

namespace assay::kernel_counts {

/// A contiguous case of every op and dtype whose kernels move data, products left out, large enough
/// that starts and ends of the tensors do not count. Only those whose id matches the expression.
/// Throws UsageError.
std::vector<Case> contiguous_cases(const std::string& filter);

}  // namespace assay::kernel_counts
