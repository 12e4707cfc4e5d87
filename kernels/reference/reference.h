#pragma once

#include <string_view>

#include "kernels/reference/expected.h"

// Expected results of each op: plain code in higher precision that shares nothing with any backend.
namespace assay::reference {

/// Throws std::logic_error for an op of the table that has no reference.
Reference find(const OpInstance& op);
/// Reference that the op `name` has for tensors and parameters like those of `op`.
Reference find(const OpInstance& op, std::string_view name);

/// Runs `solve`; the result is valid for every rank.
State solve(const Reference& reference, const Problem& problem);

}  // namespace assay::reference
