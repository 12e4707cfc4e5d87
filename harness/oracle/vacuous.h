#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/oracle/tolerance.h"
#include "kernels/base/host_tensor.h"
#include "kernels/reference/reference.h"

namespace assay::oracle {

/// What a device may hold without having computed anything, of which each would be judged right in
/// this pass: "zeros", "input 0", "the output shifted by an element". Looks at the begin, the
/// middle and the end of the output. An oracle that a decoy satisfies in every pass of a case has
/// shown nothing. What an op gives by definition (a copy its input, a fill the same everywhere) and
/// outputs of few elements, which may well be zero, are no decoys.
std::vector<std::string> decoys(const reference::Reference& expected,
                                const reference::Problem& problem, std::span<const double> state,
                                const Rule& rule, const Tolerance& tolerance,
                                const HostTensor& right);

}  // namespace assay::oracle
