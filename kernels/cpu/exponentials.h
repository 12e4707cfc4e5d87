#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cpu/columns.h"
#include "kernels/cpu/reductions.h"
#include "kernels/cpu/vector_math.h"

// Sums of exponentials, shifted by the greatest argument so that none overflows.
namespace assay::cpu {

/// Sum of e^(x - greatest) of some numbers. An infinite one is not subtracted: infinity less itself
/// would be NaN.
template <class C>
struct Exponentials {
  C greatest;
  C sum;

  static C shift_of(C greatest) { return std::isinf(greatest) ? C{0} : greatest; }
  C shifted_by(C shift) const { return sum * std::exp(greatest - shift); }
  C log_of_sum() const { return shift_of(greatest) + std::log(sum); }
};

template <class C, class T>
ASSAY_VECTOR_CLONES C sum_of_exponentials(std::int64_t n, const T* x, C shift) {
  return sum_of<C>(n, [=](std::int64_t i) { return vector_exp_of_low(widened(x[i]) - shift); });
}

/// A NaN may or may not be the greatest. Either way it reaches the sum.
struct LogSumExp : Sum {
  template <class P>
  static constexpr P nothing{-std::numeric_limits<decltype(P::sum)>::infinity(), 0};
  template <class P, class T>
  static P of_block(std::int64_t n, const T* x) {
    const auto greatest = Maximum::of_block<Computed<T>>(n, x);
    return {greatest, sum_of_exponentials(n, x, P::shift_of(greatest))};
  }
  template <class P>
  static P join(P a, P b) {
    const auto greatest = a.greatest > b.greatest ? a.greatest : b.greatest;
    const auto shift = P::shift_of(greatest);
    return {greatest, a.shifted_by(shift) + b.shifted_by(shift)};
  }
};

template <class C, class T>
ASSAY_VECTOR_CLONES void add_exponentials(C* sums, const C* shifts, const T* x, std::int64_t rows,
                                          std::int64_t step, std::int64_t count) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const here = x + row * step;
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i)
      sums[i] += vector_exp_of_low(widened(here[i]) - shifts[i]);
  }
}

/// Columns that one thread reduces, some rows at once, which caches hold.
template <class T>
class ExponentialsOfColumns {
 public:
  using C = Computed<T>;

  /// Results of the columns go to `to`.
  void reduce(const T* x, const AxisExtents& extents, const Columns& task, Exponentials<C>* to) {
    const auto count = static_cast<std::size_t>(task.count);
    std::fill_n(to, count, LogSumExp::nothing<Exponentials<C>>);
    for (std::int64_t row = 0; row < task.rows; row += rows_at_once) {
      const std::int64_t rows = std::min(rows_at_once, task.rows - row);
      const T* const from = x + task.element + row * extents.inner;
      greatest_.assign(count, Maximum::nothing<C>);
      join_rows<Maximum>(greatest_.data(), from, rows, extents.inner, task.count);
      shifts_.resize(count);
      std::ranges::transform(greatest_, shifts_.begin(), Exponentials<C>::shift_of);
      sums_.assign(count, 0);
      add_exponentials(sums_.data(), shifts_.data(), from, rows, extents.inner, task.count);
      for (std::size_t i = 0; i < count; ++i)
        to[i] = LogSumExp::join(to[i], Exponentials<C>{greatest_[i], sums_[i]});
    }
  }

 private:
  static constexpr std::int64_t rows_at_once = 32;

  std::vector<C> greatest_;
  std::vector<C> shifts_;
  std::vector<C> sums_;
};

}  // namespace assay::cpu
