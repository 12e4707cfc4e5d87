#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/cpu/map.h"

// Reductions of contiguous elements: what they do to a block, how the results of blocks are joined.
namespace assay::cpu {

/// Elements of a block, read as four streams. Streams in distant pages keep more reads in flight:
/// hardware prefetches within a page only. At 2048 elements, two pages, memory was half as fast.
inline constexpr std::int64_t block_elements = 65536;

/// Elements of a stream that are summed before they join the rest: short chains of additions keep
/// the error small.
inline constexpr std::int64_t piece_elements = 512;

/// Type in which sums and products are kept: f32 for 16-bit floats; integers wrap as unsigned.
template <class T>
struct Accumulator {
  using type = Computed<T>;
};
template <class T>
requires std::is_integral_v<T>
struct Accumulator<T> {
  using type = std::make_unsigned_t<T>;
};

// --- Loops over one block, which the compiler vectorises ----------------------------------------

/// Sum of term(i) for i from 0 to n.
template <class A, class Term>
__attribute__((always_inline)) inline A sum_of(std::int64_t n, const Term& term) {
  const std::int64_t quarter = n / 4;
  A sum = 0;
  for (std::int64_t first = 0; first < quarter; first += piece_elements) {
    const std::int64_t last = std::min(quarter, first + piece_elements);
    A s0 = 0;
    A s1 = 0;
    A s2 = 0;
    A s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (std::int64_t i = first; i < last; ++i) {
      s0 += term(i);
      s1 += term(i + quarter);
      s2 += term(i + 2 * quarter);
      s3 += term(i + 3 * quarter);
    }
    sum += (s0 + s1) + (s2 + s3);
  }
  for (std::int64_t i = 4 * quarter; i < n; ++i) sum += term(i);
  return sum;
}

template <class A, class T>
ASSAY_VECTOR_CLONES A sum_block(std::int64_t n, const T* x) {
  return sum_of<A>(n, [=](std::int64_t i) { return static_cast<A>(widened(x[i])); });
}

template <class A, class T>
ASSAY_VECTOR_CLONES A dot_block(std::int64_t n, const T* a, const T* b) {
  return sum_of<A>(n, [=](std::int64_t i) {
    return static_cast<A>(widened(a[i])) * static_cast<A>(widened(b[i]));
  });
}

template <class A, class T>
ASSAY_VECTOR_CLONES A product_block(std::int64_t n, const T* x) {
  const auto factor = [=](std::int64_t i) { return static_cast<A>(widened(x[i])); };
  const std::int64_t quarter = n / 4;
  A p0 = 1;
  A p1 = 1;
  A p2 = 1;
  A p3 = 1;
#pragma omp simd reduction(* : p0, p1, p2, p3)
  for (std::int64_t i = 0; i < quarter; ++i) {
    p0 *= factor(i);
    p1 *= factor(i + quarter);
    p2 *= factor(i + 2 * quarter);
    p3 *= factor(i + 3 * quarter);
  }
  for (std::int64_t i = 4 * quarter; i < n; ++i) p0 *= factor(i);
  return (p0 * p1) * (p2 * p3);
}

/// Turns the order of the elements around.
template <class C>
C reversed(C x) {
  if constexpr (std::is_integral_v<C>) {
    return static_cast<C>(~x);  // -x overflows
  } else {
    return -x;
  }
}

/// Least element of a block, or of its reversed elements; NaN if there is one. NaN compares as
/// neither less nor greater, so it is detected separately.
template <bool is_reversed, class T>
ASSAY_VECTOR_CLONES Computed<T> least_of_block(std::int64_t n, const T* x) {
  using C = Computed<T>;
  const auto element = [x](std::int64_t i) {
    return is_reversed ? reversed(widened(x[i])) : widened(x[i]);
  };
  const std::int64_t quarter = n / 4;
  C m0 = element(0);
  C m1 = m0;
  C m2 = m0;
  C m3 = m0;
  C unordered = 0;  // as wide as the elements, so that vectors of both have as many lanes
#pragma omp simd reduction(min : m0, m1, m2, m3) reduction(+ : unordered)
  for (std::int64_t i = 0; i < quarter; ++i) {
    const C a = element(i);
    const C b = element(i + quarter);
    const C c = element(i + 2 * quarter);
    const C d = element(i + 3 * quarter);
    m0 = a < m0 ? a : m0;
    m1 = b < m1 ? b : m1;
    m2 = c < m2 ? c : m2;
    m3 = d < m3 ? d : m3;
    unordered += (a != a || b != b || c != c || d != d) ? C{1} : C{0};
  }
  for (std::int64_t i = 4 * quarter; i < n; ++i) {
    const C a = element(i);
    m0 = a < m0 ? a : m0;
    unordered += a != a ? C{1} : C{0};
  }
  if (unordered != 0) return std::numeric_limits<C>::quiet_NaN();
  return std::min(std::min(m0, m1), std::min(m2, m3));
}

// --- Reductions, which join the results of blocks -----------------------------------------------

struct Sum {
  static constexpr int inputs = 1;
  template <class T>
  using Partial = typename Accumulator<T>::type;
  template <class P>
  static constexpr P nothing = 0;
  template <class P, class T>
  static P of_block(std::int64_t n, const T* x) {
    return sum_block<P>(n, x);
  }
  /// Gives what an element alone does.
  template <class P, class T>
  static P term(T x) {
    return static_cast<P>(widened(x));
  }
  template <class P>
  static P join(P a, P b) {
    return a + b;
  }
  template <class P>
  static P finish(P total, std::int64_t /*n*/) {
    return total;
  }
};

struct Product : Sum {
  template <class P>
  static constexpr P nothing = 1;
  template <class P, class T>
  static P of_block(std::int64_t n, const T* x) {
    return product_block<P>(n, x);
  }
  template <class P>
  static P join(P a, P b) {
    return a * b;
  }
};

/// Divides in double: n may not fit into an f32.
struct Mean : Sum {
  template <class P>
  static P finish(P total, std::int64_t n) {
    return static_cast<P>(static_cast<double>(total) / static_cast<double>(n));
  }
};

struct Dot : Sum {
  static constexpr int inputs = 2;
  template <class P, class T>
  static P of_block(std::int64_t n, const T* a, const T* b) {
    return dot_block<P>(n, a, b);
  }
};

struct Norm : Sum {
  template <class P, class T>
  static P of_block(std::int64_t n, const T* x) {
    return dot_block<P>(n, x, x);
  }
  template <class P, class T>
  static P term(T x) {
    return static_cast<P>(widened(x)) * static_cast<P>(widened(x));
  }
  template <class P>
  static P finish(P total, std::int64_t /*n*/) {
    return std::sqrt(total);
  }
};

/// Sum of squares of multiples.
struct ScaledNorm : Norm {
  double scale;
  template <class P, class T>
  P of_block(std::int64_t n, const T* x) const {
    const auto factor = static_cast<P>(scale);
    return sum_of<P>(n, [=](std::int64_t i) {
      const P own = static_cast<P>(widened(x[i])) * factor;
      return own * own;
    });
  }
};

template <class P>
bool is_nan(P x) {
  return x != x;
}

struct Minimum : Sum {
  template <class T>
  using Partial = Computed<T>;
  template <class P>
  static constexpr P nothing = std::numeric_limits<P>::has_infinity
                                   ? std::numeric_limits<P>::infinity()
                                   : std::numeric_limits<P>::max();
  template <class P, class T>
  static P of_block(std::int64_t n, const T* x) {
    return least_of_block<false>(n, x);
  }
  /// In two steps, which vectors have instructions for.
  template <class P>
  static P join(P a, P b) {
    const P lesser = a < b ? a : b;
    return is_nan(a) ? a : lesser;
  }
};

struct Maximum : Minimum {
  template <class P>
  static constexpr P nothing = std::numeric_limits<P>::has_infinity
                                   ? -std::numeric_limits<P>::infinity()
                                   : std::numeric_limits<P>::lowest();
  template <class P, class T>
  static P of_block(std::int64_t n, const T* x) {
    return reversed(least_of_block<true>(n, x));
  }
  template <class P>
  static P join(P a, P b) {
    const P greater = a > b ? a : b;
    return is_nan(a) ? a : greater;
  }
};

/// Reduces all elements. Partial results are joined in thread order: an OpenMP reduction would join
/// them in the order in which threads finish, and differ from launch to launch.
template <class P, class R, class... X>
P reduce(const R& reduction, std::int64_t n, const X*... x) {
  std::vector<P> partial(static_cast<std::size_t>(omp_get_max_threads()), R::template nothing<P>);
  parallel_blocks(n, (sizeof(X) + ...),
                  [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                    P own = R::template nothing<P>;
                    for (std::int64_t i = first; i < first + count; i += block_elements) {
                      const std::int64_t length = std::min(block_elements, first + count - i);
                      own = R::join(own, reduction.template of_block<P>(length, (x + i)...));
                    }
                    partial[static_cast<std::size_t>(thread)] = own;
                  });
  P total = R::template nothing<P>;
  for (const P part : partial) total = R::join(total, part);
  return R::finish(total, n);
}

/// Likewise, by the calling thread alone.
template <class P, class R, class... X>
P reduce_line(const R& reduction, std::int64_t n, const X*... x) {
  P total = R::template nothing<P>;
  for (std::int64_t i = 0; i < n; i += block_elements) {
    const std::int64_t length = std::min(block_elements, n - i);
    total = R::join(total, reduction.template of_block<P>(length, (x + i)...));
  }
  return R::finish(total, n);
}

/// True if no square overflowed or vanished on the way to this norm of n numbers.
template <class P>
bool is_safe_norm(P plain, std::int64_t n) {
  constexpr int lost = std::numeric_limits<P>::min_exponent + 8;  // squares vanish beside it
  const P least = std::ldexp(std::sqrt(static_cast<P>(n)), lost / 2);
  return n == 0 || is_nan(plain) || (plain >= least && std::isfinite(plain));
}

/// Norm of numbers whose squares may overflow or vanish: then those of multiples do neither.
/// `reduce(reduction)` reduces the numbers.
template <class P, class Reduce>
P norm(std::int64_t n, const Reduce& reduce) {
  const P plain = reduce(Norm{});
  if (is_safe_norm(plain, n)) return plain;
  const P greatest = std::max(reduce(Maximum{}), -reduce(Minimum{}));
  if (greatest == 0 || std::isinf(greatest)) return std::abs(greatest);  // of zeros it may be -0
  // The scale of subnormal numbers would overflow: a smaller one is enough.
  const int exponent = std::max(std::ilogb(greatest), 2 - std::numeric_limits<P>::max_exponent);
  const int half = exponent / 2;  // 2^exponent times the rest may overflow where the norm does not
  const P scaled = reduce(ScaledNorm{{}, std::ldexp(1.0, -exponent)});
  return std::ldexp(std::ldexp(scaled, half), exponent - half);
}

/// Norm of contiguous elements, by the calling thread alone.
template <class P, class T>
P norm_of_line(std::int64_t n, const T* x) {
  return norm<P>(n, [=](const auto& reduction) { return reduce_line<P>(reduction, n, x); });
}

}  // namespace assay::cpu
