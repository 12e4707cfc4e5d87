#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/oracle/tolerance.h"
#include "kernels/reference/reference.h"

namespace assay::oracle {

/// Names the contents that need no computing and would be judged right in this pass: "poison",
/// "zeros", "their mean", "input 0", "the output shifted by an element". If one of them satisfies
/// an oracle in every pass of a case, the oracle has shown nothing. Skips contents that are right
/// by definition (Signature::is_copy, is_constant), and outputs of few elements, which may well be
/// zero.
std::vector<std::string> decoys(const reference::Reference& expected,
                                const reference::Problem& problem, std::span<const double> state,
                                const Tolerance& tolerance, std::span<const std::byte> right,
                                std::byte poison);

}  // namespace assay::oracle
