#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/core/vector_clones.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/exact_sum.h"
#include "kernels/reference/families.h"
#include "kernels/reference/packed_state.h"

namespace assay::reference {
namespace {

/// State of a sum: {value, rest, scale}.
State state_of(long double y, double scale) {
  const auto value = static_cast<double>(y);
  const bool finite = std::isfinite(value);
  return {value, finite ? static_cast<double>(y - value) : 0, scale};
}

void real_value(const Problem&, std::span<const double> state, std::int64_t, Values out) {
  if (out.value.empty()) return;
  out.value[0] = state[0];
  out.rest[0] = state[1];
  out.scale[0] = state[2];
}

/// Loops over lanes are marked `simd`: without that GCC unrolls them and leaves single lanes out of
/// the vectors.
constexpr std::size_t lanes = 8;

/// Running sums (exact_sum.h), one in each lane: a vector unit does the same step in all of them.
struct LaneSums {
  std::array<double, lanes> value{};
  std::array<double, lanes> rest{};
  std::array<double, lanes> magnitude{};

  void add(std::size_t lane, double term) {
    double error = 0;
    two_sum(value[lane], term, value[lane], error);
    rest[lane] += error;
    magnitude[lane] += std::abs(term);
  }
  void add_product(std::size_t lane, double a, double b) {
    const double product = a * b;
    rest[lane] += std::fma(a, b, -product);
    add(lane, product);
  }
};

template <class T>
ASSAY_VECTOR_CLONES LaneSums sums_of(const T* x, std::size_t n) {
  LaneSums sums;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma omp simd
    for (std::size_t lane = 0; lane < lanes; ++lane) sums.add(lane, wide(x[i + lane]));
  }
  for (; i < n; ++i) sums.add(0, wide(x[i]));
  return sums;
}

template <class T>
ASSAY_VECTOR_CLONES LaneSums sums_of_products(const T* a, const T* b, std::size_t n) {
  LaneSums sums;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma omp simd
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sums.add_product(lane, wide(a[i + lane]), wide(b[i + lane]));
    }
  }
  for (; i < n; ++i) sums.add_product(0, wide(a[i]), wide(b[i]));
  return sums;
}

struct Total {
  ExactSum sum;
  double magnitude = 0;

  void add(const LaneSums& sums) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sum.add(ExactSum(sums.value[lane], sums.rest[lane]));
      magnitude += sums.magnitude[lane];
    }
  }
  long double value() const { return static_cast<long double>(sum.value()) + sum.rest(); }
};

/// Total over n elements: `sums(first, count)` of blocks that threads share. The blocks do not
/// depend on the number of threads.
template <class Sums>
Total total(std::size_t n, const Sums& sums) {
  constexpr std::size_t block = 1 << 15;
  std::vector<LaneSums> blocks((n + block - 1) / block);
#pragma omp parallel for schedule(static) if (blocks.size() > 1)
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b] = sums(b * block, std::min(block, n - b * block));
  }
  Total all;
  for (const LaneSums& one : blocks) all.add(one);
  return all;
}

template <class T>
Total total_of(std::span<const T> x) {
  return total(x.size(), [&](std::size_t first, std::size_t count) {
    return sums_of(x.data() + first, count);
  });
}

/// Sum of a_i b_i.
template <class T>
Total total_of_products(std::span<const T> a, std::span<const T> b) {
  return total(a.size(), [&](std::size_t first, std::size_t count) {
    return sums_of_products(a.data() + first, b.data() + first, count);
  });
}

template <class T>
State solve_sum(const Problem& p) {
  const Total total = total_of(p.input<T>(0));
  return {total.sum.value(), total.sum.rest(), total.magnitude};
}

template <class T>
State solve_mean(const Problem& p) {
  const Total total = total_of(p.input<T>(0));
  const auto n = static_cast<long double>(p.input<T>(0).size());
  return state_of(total.value() / n, static_cast<double>(total.magnitude / n));
}

template <class T>
State solve_dot(const Problem& p) {
  const Total total = total_of_products(p.input<T>(0), p.input<T>(1));
  return {total.sum.value(), total.sum.rest(), total.magnitude};
}

/// Squares of doubles overflow and vanish: then those of a long double do neither.
template <class T>
State solve_norm(const Problem& p) {
  const auto x = p.input<T>(0);
  const long double squares = total_of_products(x, x).value();
  constexpr long double safe = 0x1p-900L;  // rounding errors below do not count beside it
  const bool is_safe = std::isfinite(squares) && squares > safe;
  if (is_safe || x.empty() || std::isnan(squares)) return state_of(std::sqrt(squares), 0);
  long double wide_squares = 0;
  for (const T element : x) {
    const auto one = static_cast<long double>(wide(element));
    wide_squares += one * one;
  }
  return state_of(std::sqrt(wide_squares), 0);
}

/// Computes in long double, whose roundings are 2^-11 of those of a double.
template <class T>
State solve_product(const Problem& p) {
  long double product = 1;
  for (const T element : p.input<T>(0)) product *= wide(element);
  return state_of(product, 0);
}

template <class T>
State solve_wrapping_sum(const Problem& p) {
  std::make_unsigned_t<T> total = 0;
  for (const T x : p.input<T>(0)) total += static_cast<std::make_unsigned_t<T>>(x);
  return {as_state(total)};
}

template <class T>
State solve_wrapping_product(const Problem& p) {
  std::make_unsigned_t<T> product = 1;
  for (const T x : p.input<T>(0)) product *= static_cast<std::make_unsigned_t<T>>(x);
  return {as_state(product)};
}

/// Returns the one element, or index, that the state holds.
template <class T>
void one_word(const Problem&, std::span<const double> state, std::int64_t,
              std::span<std::byte> out) {
  if (!out.empty()) store(out, 0, from_state<T>(state[0]));
}

template <class T>
bool is_nan(T x) {
  return std::isnan(static_cast<long double>(wide(x)));
}

/// Index of the first element that no other comes before; a NaN comes before all numbers.
template <class T, class Before>
std::size_t first_of(std::span<const T> x, const Before& before) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < x.size() && !is_nan(x[best]); ++i) {
    if (is_nan(x[i]) || before(x[i], x[best])) best = i;
  }
  return best;
}

template <class T>
bool less(T a, T b) {
  if constexpr (is_narrow_float<T>) {
    return wide(a) < wide(b);
  } else {
    return a < b;
  }
}

template <class T>
State solve_least(const Problem& p) {
  const auto x = p.input<T>(0);
  return {as_state(x[first_of(x, [](T a, T b) { return less(a, b); })])};
}

template <class T>
State solve_greatest(const Problem& p) {
  const auto x = p.input<T>(0);
  return {as_state(x[first_of(x, [](T a, T b) { return less(b, a); })])};
}

template <class T>
State solve_argmax(const Problem& p) {
  const std::size_t index = first_of(p.input<T>(0), [](T a, T b) { return less(b, a); });
  return {as_state(static_cast<std::int64_t>(index))};
}

Reference sum(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) -> Reference {
    if constexpr (std::is_integral_v<T>) {
      return {.solve = solve_wrapping_sum<T>, .bits = one_word<T>};
    } else {
      return {.solve = solve_sum<T>, .values = real_value};
    }
  });
}

Reference prod(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) -> Reference {
    if constexpr (std::is_integral_v<T>) {
      return {.solve = solve_wrapping_product<T>, .bits = one_word<T>};
    } else {
      return {.solve = solve_product<T>, .values = real_value};
    }
  });
}

Reference mean(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_mean<T>, .values = real_value};
  });
}

Reference dot(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_dot<T>, .values = real_value};
  });
}

Reference norm2(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_norm<T>, .values = real_value};
  });
}

Reference reduce_min(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_least<T>, .bits = one_word<T>};
  });
}

Reference reduce_max(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_greatest<T>, .bits = one_word<T>};
  });
}

Reference argmax(const OpInstance& op) {
  return visit_dtype(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_argmax<T>, .bits = one_word<std::int64_t>};
  });
}

constexpr ReferenceRow rows[] = {
    {"sum", sum},
    {"prod", prod},
    {"mean", mean},
    {"dot", dot},
    {"norm2", norm2},
    {"reduce_min", reduce_min},
    {"reduce_max", reduce_max},
    {"argmax", argmax},
};

}  // namespace

std::span<const ReferenceRow> reduction_references() { return rows; }

}  // namespace assay::reference
