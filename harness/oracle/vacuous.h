#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/oracle/tolerance.h"
#include "kernels/reference/reference.h"

namespace assay::oracle {

/// What may stand in an output without anything having been computed, of which each would be judged
/// right in this pass: "poison", "zeros", "input 0", "the output shifted by an element". Looks at
/// the begin, the middle and the end of the output. An oracle that one of them satisfies in every
/// pass of a case has shown nothing. Not asked where it is right by definition (Signature::is_copy,
/// is_constant), nor of outputs of few elements, which may well be zero.
std::vector<std::string> decoys(const reference::Reference& expected,
                                const reference::Problem& problem, std::span<const double> state,
                                const Tolerance& tolerance, std::span<const std::byte> right,
                                std::byte poison);

}  // namespace assay::oracle
