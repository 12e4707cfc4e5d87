#pragma once

#include <string>

#include "kernels/op.h"

namespace assay::oracle {

/// What a rule allows at one element of expected value y, with the reference's scale S:
///   |error| <= scale S + relative |y| + ulps ulp(y) + absolute.
/// All zero and `exact`: the correctly rounded value and nothing else.
struct Tolerance {
  bool exact = false;
  double scale = 0;
  double relative = 0;
  double ulps = 0;
  double absolute = 0;
  std::string description;  // "sum_bound(L=1025,u=2^-24)"
};

/// The rule as numbers for one op. Integers are exact whatever the rule: their arithmetic is.
Tolerance tolerance(const Rule& rule, const OpInstance& op);

// One file each, with the source of its formula.
Tolerance exact();
Tolerance sum_bound(const OpInstance& op);
Tolerance function_bound(const Rule& rule, const OpInstance& op);
Tolerance softmax_bound(const Rule& rule, const OpInstance& op);

}  // namespace assay::oracle
