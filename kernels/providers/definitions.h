#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/ops/defined.h"

namespace assay::providers {

/// Reads the ops that the process of a user's references announces
/// (kernels/providers/python/assay/_reference_host.py). Throws UsageError for what no op can be.
std::vector<DefinedOp> read_definitions(std::span<const std::byte> message);

}  // namespace assay::providers
