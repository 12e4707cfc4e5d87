#pragma once

#include <optional>
#include <string>

#include "harness/oracle/accumulation.h"
#include "kernels/core/math_mode.h"
#include "kernels/ops/op.h"

namespace assay::oracle {

/// The part of a bound that grows with the number of terms.
struct Growth {
  double scale = 0;
  double relative = 0;
};

/// Error that a rule allows at one element of expected value y, with the reference's scale S:
///   |error| <= scale S + relative |y| + ulps ulp(y) + absolute.
/// All zero and `exact`: only the correctly rounded value passes.
struct Tolerance {
  bool exact = false;
  bool any_zero = false;       // +0 and -0 pass for each other, also where bits are compared
  bool signed_zero = false;    // +0 and -0 never do, also where numbers are compared
  bool payloads = false;       // a NaN passes only for the same NaN
  bool any_nonfinite = false;  // NaN and infinities pass for each other
  double scale = 0;
  double relative = 0;
  double ulps = 0;
  double absolute = 0;
  /// True if an element of scale 0 has no room at all: only the correctly rounded value is right.
  /// An infinite scale is that of an element of which nothing is known.
  bool zero_is_exact = false;
  /// Replaces `scale` and `relative` in a bound that holds almost surely, if there is one. An error
  /// must keep both. The scale is that of an output of all the op's terms; one of a share s of them
  /// has 1 / sqrt s times as much (reference::Reference::share).
  std::optional<Growth> probable;
  std::string description;  // "sum_bound(L=1025,u=2^-24)+probable(lambda=8.6,P<1e-12)"
};

/// Tolerance of a rule for one op on a kernel of this math mode. Integer outputs are always exact,
/// as their arithmetic is. `arithmetic` is that of a measured band.
Tolerance tolerance(const Rule& rule, const OpInstance& op, const MathMode& mode = {},
                    Arithmetic arithmetic = Arithmetic::f32);

/// Tolerance of a result of tolerance `t` that is rounded once more, to `dtype`.
Tolerance rounded_to(DType dtype, Tolerance t);
/// rounded_to the output's dtype if that is narrower than the op's arithmetic, else `t` itself.
Tolerance rounded_to_output(const OpInstance& op, const Tolerance& t);

// One file each, with the source of its formula.
Tolerance exact(const Rule& rule);
Tolerance freivalds();
Tolerance sum_bound(const Rule& rule, const OpInstance& op, const MathMode& mode);
Tolerance function_bound(const Rule& rule, const OpInstance& op);
Tolerance relative_bound(const Rule& rule, const OpInstance& op, const MathMode& mode);
Tolerance running_bound(const Rule& rule, const OpInstance& op, const MathMode& mode);
Tolerance softmax_bound(const Rule& rule, const OpInstance& op);
Tolerance layernorm_bound(const OpInstance& op);
Tolerance measured_band(const OpInstance& op, Arithmetic arithmetic);

/// Probabilistic bound of sums and products of the op's terms.
struct Probable {
  double lambda = 0;
  double roundings = 0;  // replaces L u: the relative error of L roundings in a row

  std::string text() const;  // "+probable(lambda=8.6,P<1e-12)"
};
/// Chance of a right launch to exceed it, at most.
inline constexpr double false_alarm = 1e-12;
/// Empty where the theorem says nothing of these data or this arithmetic, or no less than the
/// proved bound of `chain` roundings.
std::optional<Probable> probable_bound(const Rule& rule, const OpInstance& op,
                                       const Accumulation& sums, double chain);

}  // namespace assay::oracle
