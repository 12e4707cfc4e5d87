#pragma once

#include "kernels/reference/expected.h"

// Expected results of each op: plain code in higher precision that shares nothing with any backend.
namespace assay::reference {

/// Throws std::logic_error for an op of the table that has no reference.
Reference find(const OpInstance& op);

/// Runs `solve`; the result is valid for every rank.
State solve(const Reference& reference, const Problem& problem);

}  // namespace assay::reference
