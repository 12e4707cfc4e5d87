#pragma once

#include <string>

#include "kernels/core/math_mode.h"
#include "kernels/ops/op.h"

namespace assay::oracle {

/// Error that a rule allows at one element of expected value y, with the reference's scale S:
///   |error| <= scale S + relative |y| + ulps ulp(y) + absolute.
/// All zero and `exact`: only the correctly rounded value passes.
struct Tolerance {
  bool exact = false;
  bool any_zero = false;       // +0 and -0 pass for each other, also where bits are compared
  bool payloads = false;       // a NaN passes only for the same NaN
  bool any_nonfinite = false;  // NaN and infinities pass for each other
  double scale = 0;
  double relative = 0;
  double ulps = 0;
  double absolute = 0;
  std::string description;  // "sum_bound(L=1025,u=2^-24)"
};

/// Tolerance of a rule for one op on a kernel of this math mode. Integer outputs are always exact,
/// as their arithmetic is.
Tolerance tolerance(const Rule& rule, const OpInstance& op, const MathMode& mode = {});

/// Tolerance of a result of tolerance `t` that is rounded once more, to `dtype`.
Tolerance rounded_to(DType dtype, Tolerance t);
/// rounded_to the output's dtype if that is narrower than the op's arithmetic, else `t` itself.
Tolerance rounded_to_output(const OpInstance& op, const Tolerance& t);

// One file each, with the source of its formula.
Tolerance exact(const Rule& rule);
Tolerance freivalds();
Tolerance sum_bound(const Rule& rule, const OpInstance& op, const MathMode& mode);
Tolerance function_bound(const Rule& rule, const OpInstance& op);
Tolerance relative_bound(const Rule& rule, const OpInstance& op);
Tolerance running_bound(const OpInstance& op, const MathMode& mode);
Tolerance softmax_bound(const Rule& rule, const OpInstance& op);
Tolerance layernorm_bound(const OpInstance& op);

}  // namespace assay::oracle
