#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/core/vector_clones.h"
#include "kernels/ops/function_errors.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/exponential_sums.h"
#include "kernels/reference/families.h"
#include "kernels/reference/lane_sums.h"
#include "kernels/reference/lines.h"
#include "kernels/reference/packed_state.h"

namespace assay::reference {
namespace {

/// Numbers of a line whose result is a real number: value, rest, scale.
constexpr std::size_t real_numbers = 3;

void put(double* numbers, long double y, double scale) {
  numbers[0] = static_cast<double>(y);
  numbers[1] = std::isfinite(numbers[0]) ? static_cast<double>(y - numbers[0]) : 0;
  numbers[2] = scale;
}

void real_value(const Problem&, std::span<const double> state, std::int64_t first, Values out) {
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    const double* numbers = &state[(static_cast<std::size_t>(first) + i) * real_numbers];
    out.value[i] = numbers[0];
    out.rest[i] = numbers[1];
    out.scale[i] = numbers[2];
  }
}

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

template <class T>
Total total_of(std::span<const T> x) {
  return over_blocks<Total>(x.size(), [&](std::size_t first, std::size_t count) {
    return sums_of(x.data() + first, count);
  });
}

/// Sum of a_i b_i.
template <class T>
Total total_of_products(std::span<const T> a, std::span<const T> b) {
  return over_blocks<Total>(a.size(), [&](std::size_t first, std::size_t count) {
    return sums_of_products(a.data() + first, b.data() + first, count);
  });
}

void put(double* numbers, const Total& total) {
  numbers[0] = total.sum.value();
  numbers[1] = total.sum.rest();
  numbers[2] = total.magnitude;
}

template <class T>
State solve_sum(const Problem& p) {
  return solve_lines<real_numbers, T>(
      p, [](std::span<const T> x, double* numbers) { put(numbers, total_of(x)); });
}

template <class T>
State solve_mean(const Problem& p) {
  return solve_lines<real_numbers, T>(p, [](std::span<const T> x, double* numbers) {
    const Total total = total_of(x);
    const auto n = static_cast<long double>(x.size());
    put(numbers, total.value() / n, static_cast<double>(total.magnitude / n));
  });
}

template <class T>
State solve_dot(const Problem& p) {
  State numbers(real_numbers);
  put(numbers.data(), total_of_products(p.input<T>(0), p.input<T>(1)));
  return numbers;
}

/// Squares of doubles overflow and vanish: then those of a long double do neither.
template <class T>
long double norm_of(std::span<const T> x) {
  const long double squares = total_of_products(x, x).value();
  constexpr long double safe = 0x1p-900L;  // rounding errors below do not count beside it
  const bool is_safe = std::isfinite(squares) && squares > safe;
  if (is_safe || x.empty() || std::isnan(squares)) return std::sqrt(squares);
  long double wide_squares = 0;
  for (const T element : x) {
    const auto one = static_cast<long double>(wide(element));
    wide_squares += one * one;
  }
  return std::sqrt(wide_squares);
}

template <class T>
State solve_norm(const Problem& p) {
  return solve_lines<real_numbers, T>(
      p, [](std::span<const T> x, double* numbers) { put(numbers, norm_of(x), 0); });
}

/// Error that every library's logarithm keeps, in roundings of the result: an ulp is two at most.
double log_roundings() { return 2 * declared_error("log").ulps; }

/// m + log s, s = sum of e^(x_j - m), m the maximum. Scale: sum of e^(x_j - m) |x_j - m| / s, the
/// relative error of s by those of the arguments, which is absolute in its logarithm; and the
/// errors of the logarithm and of the addition. Blanchard, Higham, Higham: "Accurately computing
/// the log-sum-exp and softmax functions", IMA J. Numer. Anal. 41(4), 2021, section 3.
template <class T>
State solve_log_sum_exp(const Problem& p) {
  return solve_lines<real_numbers, T>(p, [](std::span<const T> x, double* numbers) {
    double m = wide(x[0]);
    for (const T element : x) m = std::isnan(m) || wide(element) <= m ? m : wide(element);
    if (!std::isfinite(m)) return put(numbers, m, 0);
    const ExponentialSums sums = exponential_sums(x, m);
    const long double of_sum = std::log(sums.plain.value());
    const long double y = m + of_sum;
    const long double scale =
        sums.weighted / sums.plain.value() + log_roundings() * of_sum + std::abs(y);
    put(numbers, y, static_cast<double>(scale));
  });
}

/// Computes in long double, whose roundings are 2^-11 of those of a double.
template <class T>
State solve_product(const Problem& p) {
  return solve_lines<real_numbers, T>(p, [](std::span<const T> x, double* numbers) {
    long double product = 1;
    for (const T element : x) product *= wide(element);
    put(numbers, product, 0);
  });
}

/// State of a word for each line.
template <class T, class Solve>
State solve_words(const Problem& p, const Solve& solve) {
  return solve_lines<1, T>(p,
                           [&](std::span<const T> x, double* word) { *word = as_state(solve(x)); });
}

template <class T>
State solve_wrapping_sum(const Problem& p) {
  return solve_words<T>(p, [](std::span<const T> elements) {
    std::make_unsigned_t<T> total = 0;
    for (const T x : elements) total += static_cast<std::make_unsigned_t<T>>(x);
    return total;
  });
}

template <class T>
State solve_wrapping_product(const Problem& p) {
  return solve_words<T>(p, [](std::span<const T> elements) {
    std::make_unsigned_t<T> product = 1;
    for (const T x : elements) product *= static_cast<std::make_unsigned_t<T>>(x);
    return product;
  });
}

/// Gives the element, or index, that the state holds for each line.
template <class T>
void words(const Problem&, std::span<const double> state, std::int64_t first,
           std::span<std::byte> out) {
  for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
    store(out, i, from_state<T>(state[static_cast<std::size_t>(first) + i]));
  }
}

template <class T>
bool is_nan(T x) {
  return std::isnan(static_cast<long double>(wide(x)));
}

template <class T>
bool less(T a, T b) {
  if constexpr (is_narrow_float<T>) {
    return wide(a) < wide(b);
  } else {
    return a < b;
  }
}

/// Index of the first least, or greatest, element; a NaN comes before all numbers.
template <bool greatest, class T>
std::size_t first_extreme(std::span<const T> x) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < x.size() && !is_nan(x[best]); ++i) {
    const bool is_before = greatest ? less(x[best], x[i]) : less(x[i], x[best]);
    if (is_nan(x[i]) || is_before) best = i;
  }
  return best;
}

template <bool greatest, class T>
State solve_extreme(const Problem& p) {
  return solve_words<T>(p, [](std::span<const T> x) { return x[first_extreme<greatest>(x)]; });
}

template <bool greatest, class T>
State solve_place(const Problem& p) {
  return solve_words<T>(p, [](std::span<const T> x) {
    return static_cast<std::int64_t>(first_extreme<greatest>(x));
  });
}

Reference sum(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) -> Reference {
    if constexpr (std::is_integral_v<T>) {
      return {.solve = solve_wrapping_sum<T>, .bits = words<T>};
    } else {
      return {.solve = solve_sum<T>, .values = real_value};
    }
  });
}

Reference prod(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) -> Reference {
    if constexpr (std::is_integral_v<T>) {
      return {.solve = solve_wrapping_product<T>, .bits = words<T>};
    } else {
      return {.solve = solve_product<T>, .values = real_value};
    }
  });
}

Reference mean(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_mean<T>, .values = real_value};
  });
}

Reference dot(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_dot<T>, .values = real_value};
  });
}

Reference norm2(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_norm<T>, .values = real_value};
  });
}

Reference logsumexp(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_log_sum_exp<T>, .values = real_value};
  });
}

template <bool greatest>
Reference extreme(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_extreme<greatest, T>, .bits = words<T>};
  });
}

template <bool greatest>
Reference place(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_place<greatest, T>, .bits = words<std::int64_t>};
  });
}

constexpr ReferenceRow rows[] = {
    {"sum", sum},
    {"prod", prod},
    {"mean", mean},
    {"dot", dot},
    {"norm2", norm2},
    {"logsumexp", logsumexp},
    {"reduce_min", extreme<false>},
    {"reduce_max", extreme<true>},
    {"argmax", place<true>},
    {"argmin", place<false>},
    {"sum_axis", sum},
    {"prod_axis", prod},
    {"mean_axis", mean},
    {"norm2_axis", norm2},
    {"logsumexp_axis", logsumexp},
    {"reduce_min_axis", extreme<false>},
    {"reduce_max_axis", extreme<true>},
    {"argmax_axis", place<true>},
    {"argmin_axis", place<false>},
};

}  // namespace

std::span<const ReferenceRow> reduction_references() { return rows; }

}  // namespace assay::reference
