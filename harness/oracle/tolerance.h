#pragma once

#include <string>

#include "kernels/core/math_mode.h"
#include "kernels/ops/op.h"

namespace assay::oracle {

/// What a rule allows at one element of expected value y, with the reference's scale S:
///   |error| <= scale S + relative |y| + ulps ulp(y) + absolute.
/// All zero and `exact`: the correctly rounded value and nothing else.
struct Tolerance {
  bool exact = false;
  bool any_zero = false;  // +0 passes for -0 and the other way round, also where bits are compared
  bool payloads = false;  // a NaN passes for itself alone
  double scale = 0;
  double relative = 0;
  double ulps = 0;
  double absolute = 0;
  std::string description;  // "sum_bound(L=1025,u=2^-24)"
};

/// The rule as numbers for one op, of a kernel that declares this math mode. Integers are exact
/// whatever the rule: their arithmetic is.
Tolerance tolerance(const Rule& rule, const OpInstance& op, const MathMode& mode = {});

/// What is allowed when a result of tolerance `t` is rounded once more, to `dtype`.
Tolerance rounded_to(DType dtype, Tolerance t);
/// The same where `dtype` is narrower than what the op computes in, else `t` itself.
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
