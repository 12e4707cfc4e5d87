#pragma once

#include <functional>
#include <vector>

#include "kernels/ops/defined.h"
#include "kernels/reference/expected.h"

// References of ops that users define: another process answers them.
namespace assay::reference {

/// Measures each output of a problem. Throws std::runtime_error with the reason if it cannot.
using Measure = std::function<std::vector<MeasuredOutput>(const Problem&, const Effort&)>;

/// Answers for all defined ops (kernels/ops/defined.h) from now on.
void measure_with(Measure measure);

/// Reference of a defined op.
Reference of_defined_op(const OpInstance& op);

}  // namespace assay::reference
