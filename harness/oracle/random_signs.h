#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/oracle/tolerance.h"
#include "kernels/reference/reference.h"

namespace assay::oracle {

/// The row of a product that errs most as a whole.
struct RowResidual {
  std::int64_t row = 0;
  double residual = 0;  // |sum over j of s_j e_j|, e_j the error of element j
  double allowed = 0;
  /// NaN does not; nor does an infinite element, which would allow any residual.
  bool passed() const { return residual <= allowed && std::isfinite(allowed); }
};

/// True if random_signs can judge outputs of the op: products of floats with no activation.
bool has_random_signs(const OpInstance& op);

/// Judges all outputs of a product y = x W^T + b of real data at once, in O(MN + NK + MK) instead
/// of O(MNK) operations: for signs s_j, drawn after the launch, each row of y must satisfy y s = x
/// (W^T s) + b s but for the errors that its elements may have.
///
/// After R. Freivalds: "Probabilistic machines can use less running time", IFIP Congress 1977. If
/// each element errs by at most B_j, as `tolerance` allows (almost surely, where it has such a
/// bound), then the sum of s_j e_j exceeds t ||B||
/// with a probability of at most 2 exp(-t^2 / 2), whatever the errors are: W. Hoeffding,
/// "Probability inequalities for sums of bounded random variables", J. Amer. Statist. Assoc.
/// 58(301), 1963, theorem 2. The scale of an element is bounded by ||x_i|| ||w_j|| + |b_j|. With t
/// = 9 a right row fails once in 10^17 times. A wrong row shows where its elements err together by
/// more than t ||B||: an element that is nothing like its value, in a row of some thousand; not one
/// that is a little beyond its own bound.
///
/// Throws std::logic_error for an op without it.
RowResidual random_signs(const reference::Problem& problem, const Tolerance& tolerance,
                         std::span<const std::byte> actual, std::uint64_t seed);

/// "random_signs(t=9)"
std::string random_signs_text();

}  // namespace assay::oracle
