#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kernels/ops/defined.h"

namespace assay::providers {

/// Digest of the file that the process has read.
std::string digest_of(std::span<const std::byte> message);

/// Reads the ops that the process of a user's references announces
/// (kernels/providers/python/assay/_reference_host.py). Throws UsageError for what no op can be.
std::vector<DefinedOp> read_definitions(std::span<const std::byte> message);

}  // namespace assay::providers
