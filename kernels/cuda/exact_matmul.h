#pragma once

#include <cstdint>

#include "kernels/cuda/matmul_plan.h"

namespace assay::cuda {

/// Exact data of a product's own shape and types, whose result is known without computing it. They
/// prove an algorithm on the device when a kernel is made, before the trial's tensors hold data.
///   A (r, l) = column(r) b(l) and B (l, c) = row(c) a(l) of odd integers and signs, so
///   D (r, c) = row(c) column(r) sum(), and every partial sum in any order is exact.
///
/// Sums are odd. With a 16-bit result, the sums of r = 0 and c = 0 need more bits than it holds.
/// The bias cancels the rounded sums of c = 0 and leaves only the rounding error, which is positive
/// so that a relu keeps it. It would be 0 if a sum were rounded before its bias is added.
class ExactMatmul {
 public:
  explicit ExactMatmul(const MatmulPlan& plan);

  /// Element i of each tensor in memory order; the matrices of a batch follow each other.
  constexpr std::int64_t a_at(std::int64_t i) const {
    const std::int64_t at = i % (m_ * k_);
    const std::int64_t r = i / (m_ * k_) * m_ + (a_transposed_ ? at / k_ : at % m_);
    return column(r) * b_sign(a_transposed_ ? at % k_ : at / m_);
  }
  constexpr std::int64_t b_at(std::int64_t i) const {
    const std::int64_t at = i % (k_ * n_);
    const std::int64_t c = i / (k_ * n_) * n_ + (b_transposed_ ? at % n_ : at / k_);
    return row(c) * a_sign(b_transposed_ ? at / n_ : at % k_);
  }
  constexpr std::int64_t d_at(std::int64_t i) const {
    return expected(i / (m_ * n_) * m_ + i % m_, i / m_);
  }

  /// b(l) and a(l): -1, 0 or 1.
  constexpr std::int64_t a_sign(std::int64_t l) const { return (l * 0x9e3779b1 >> 7 & 1) * 2 - 1; }
  constexpr std::int64_t b_sign(std::int64_t l) const { return a_sign(l) * term(l); }
  /// Factors of column c of B, and of row r of A, numbered across a batch.
  constexpr std::int64_t row(std::int64_t c) const {
    const std::int64_t magnitude = row_limit_ - 2 * (c * 7919 % ((row_limit_ + 1) / 2));
    return c % 3 == 1 ? -magnitude : magnitude;
  }
  constexpr std::int64_t column(std::int64_t r) const {
    const std::int64_t magnitude = column_limit_ - 2 * (r * 104729 % ((column_limit_ + 1) / 2));
    const std::int64_t lost = row(0) * magnitude * sum_ - rounded(row(0) * magnitude * sum_);
    return lost < 0 || (lost == 0 && r % 2 == 1) ? -magnitude : magnitude;
  }
  constexpr std::int64_t sum() const { return sum_; }
  /// Sum of element (r, c), before bias and rounding.
  constexpr std::int64_t product(std::int64_t r, std::int64_t c) const {
    return row(c) * column(r) * sum_;
  }
  /// Bias of row r. If nothing is rounded off, it cancels only half of the sum, so that a result
  /// remains.
  constexpr std::int64_t bias(std::int64_t r) const {
    const std::int64_t whole = product(r, 0);
    return rounded(whole) == whole ? -whole / 2 : -rounded(whole);
  }
  /// Result, exactly representable in its type.
  constexpr std::int64_t expected(std::int64_t r, std::int64_t c) const {
    const std::int64_t value = product(r, c) + (has_bias_ ? bias(r) : 0);
    return is_relu_ && value < 0 ? 0 : rounded(value);
  }
  /// Rounds to the bits of the result's type, to nearest even.
  constexpr std::int64_t rounded(std::int64_t value) const {
    const std::int64_t magnitude = value < 0 ? -value : value;
    int shift = 0;
    while (magnitude >> shift >> result_bits_ != 0) ++shift;
    const std::int64_t whole = magnitude >> shift;
    const std::int64_t rest = (magnitude - (whole << shift)) * 2;
    const std::int64_t unit = std::int64_t{1} << shift;
    const bool up = rest > unit || (rest == unit && whole % 2 == 1);
    const std::int64_t nearest = (whole + (up ? 1 : 0)) << shift;
    return value < 0 ? -nearest : nearest;
  }

 private:
  /// Factor of term l: `negative_` of the `terms_` nonzero terms are -1, evenly spread.
  constexpr std::int64_t term(std::int64_t l) const {
    if (l >= terms_) return 0;
    return (l + 1) * negative_ / terms_ > l * negative_ / terms_ ? -1 : 1;
  }

  std::int64_t m_, n_, k_;
  bool a_transposed_;
  bool b_transposed_;
  int result_bits_;
  bool has_bias_;
  bool is_relu_;
  std::int64_t terms_;  // odd; later terms are 0
  std::int64_t negative_;
  std::int64_t sum_;  // odd
  std::int64_t row_limit_, column_limit_;
};

}  // namespace assay::cuda
