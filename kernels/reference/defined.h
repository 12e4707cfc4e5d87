#pragma once

#include <functional>
#include <vector>

#include "kernels/reference/expected.h"

// References of ops that users define: another process answers them.
namespace assay::reference {

/// What a user's reference gives for one output, and how far arithmetic of f32 disturbs it.
struct Measured {
  std::vector<double> value;  // an integer's bits, where the output is one
  /// Deviation of each element; 0: exact. Infinite: the reference cannot tell.
  std::vector<double> deviation;
};

/// Measures each output of a problem with so many runs of the noisy reference. Throws
/// std::runtime_error with the reason if it cannot.
using Measure = std::function<std::vector<Measured>(const Problem&, int draws)>;

/// Answers for all defined ops (kernels/ops/defined.h) from now on.
void measure_with(Measure measure);

/// Reference of a defined op.
Reference of_defined_op(const OpInstance& op);

}  // namespace assay::reference
