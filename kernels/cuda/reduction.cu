#include <limits>

#include "kernels/cuda/axis_reduction.cuh"
#include "kernels/cuda/exponentials.cuh"
#include "kernels/cuda/reduce.cuh"

// Reductions to one element.
namespace assay::cuda {
namespace {

template <class P>
__device__ bool is_nan(P x) {
  return x != x;
}

// --- Sums and products ---------------------------------------------------------------------------

struct Product : Sum {
  template <class S>
  static __device__ Sum::Partial<S> nothing() {
    return 1;
  }
  template <class S>
  static __device__ S fill() {
    return static_cast<S>(1.0F);
  }
  template <class P>
  static __device__ P join(P a, P b) {
    return a * b;
  }
};

/// Divides in double: n may not fit into an f32.
struct Mean : Sum {
  template <class P>
  static __device__ P last_step(P total, std::int64_t n) {
    return static_cast<P>(static_cast<double>(total) / static_cast<double>(n));
  }
};

struct Dot : Sum {
  template <class P, class S>
  static __device__ P term(S a, S b) {
    return static_cast<P>(widened(a)) * static_cast<P>(widened(b));
  }
};

/// Sums of squares: of numbers that are scaled because theirs would overflow, of those in between,
/// and of numbers whose squares would vanish. After Blue: "A portable Fortran program to find the
/// Euclidean norm of a vector", ACM TOMS 4(1), 1978.
template <class A>
struct Squares {
  using P = A;
  A huge;
  A plain;
  A tiny;
};

/// Limits and scales of Squares, as powers of two: 2^39 plain squares fit, and 2^30 scaled ones.
template <class A>
struct SquaresLimits {
  static constexpr bool is_f64 = sizeof(A) == 8;
  static constexpr A huge_from = is_f64 ? A(0x1p480) : A(0x1p44);
  static constexpr A huge_scale = is_f64 ? A(0x1p-600) : A(0x1p-80);
  static constexpr A tiny_below = is_f64 ? A(0x1p-500) : A(0x1p-60);
  static constexpr A tiny_scale = is_f64 ? A(0x1p600) : A(0x1p100);
};

struct Norm : Sum {
  template <class S>
  using Partial = Squares<Accumulator<S>>;
  template <class S>
  static __device__ Partial<S> nothing() {
    return {0, 0, 0};
  }
  template <class Q, class S>
  static __device__ Q term(S x) {
    using P = typename Q::P;
    using Limits = SquaresLimits<P>;
    const auto own = static_cast<P>(widened(x));  // once: conversions are slow
    const P size = own < 0 ? -own : own;
    const bool is_huge = size >= Limits::huge_from;
    const bool is_tiny = size < Limits::tiny_below;
    const P scaled = own * (is_huge ? Limits::huge_scale : is_tiny ? Limits::tiny_scale : P(1));
    const P square = scaled * scaled;
    return {is_huge ? square : P(0), is_huge || is_tiny ? P(0) : square, is_tiny ? square : P(0)};
  }
  template <class Q>
  static __device__ Q join(Q a, Q b) {
    return {a.huge + b.huge, a.plain + b.plain, a.tiny + b.tiny};
  }
  template <class Q>
  static __device__ typename Q::P last_step(Q total, std::int64_t /*n*/) {
    using Limits = SquaresLimits<typename Q::P>;
    if (total.huge != 0) {
      // Tiny ones vanish beside huge ones.
      return sqrt(total.huge + total.plain * Limits::huge_scale * Limits::huge_scale) /
             Limits::huge_scale;
    }
    if (total.plain != 0)
      return sqrt(total.plain + total.tiny / Limits::tiny_scale / Limits::tiny_scale);
    return sqrt(total.tiny) / Limits::tiny_scale;
  }
};

struct LogSumExp : SumOfExponentials {
  template <class S>
  static __device__ S fill() {
    return static_cast<S>(-std::numeric_limits<Computed<S>>::infinity());
  }
  template <class Q, class S>
  static __device__ Q term(S x) {
    return Q::of(widened(x));
  }
  template <class Q>
  static __device__ auto last_step(Q total, std::int64_t /*n*/) {
    return Q::shift_of(total.greatest) + log(total.sum);
  }
};

/// One exponential for each element of a share, in place of two.
struct LogSumExpOfShares : Chains<LogSumExp> {
  template <class Q, class S>
  static __device__ Q of_shares(unsigned /*tile*/, const Share<S>& x) {
    constexpr int width = vector_elements<S>;
    auto greatest = widened(x.vector(0).at[0]);
    for (int k = 0; k < thread_vectors; ++k) {
      for (int j = 0; j < width; ++j) greatest = max(greatest, widened(x.vector(k).at[j]));
    }
    const auto shift = Q::shift_of(greatest);
    auto sum = exp(widened(x.vector(0).at[0]) - shift);
    for (int k = 0; k < thread_vectors; ++k) {
      for (int j = k == 0 ? 1 : 0; j < width; ++j) sum += exp(widened(x.vector(k).at[j]) - shift);
    }
    return {greatest, sum};
  }
};

// --- Extremes ------------------------------------------------------------------------------------

/// Least or greatest element; NaN if there is one.
template <bool greatest>
struct Extreme {
  /// Bytes are kept in words.
  template <class S>
  using Partial = std::conditional_t<sizeof(S) == 1, unsigned, Computed<S>>;

  template <class S>
  static __device__ Partial<S> nothing() {
    using Limits = std::numeric_limits<Computed<S>>;
    if constexpr (Limits::has_infinity) return greatest ? -Limits::infinity() : Limits::infinity();
    return greatest ? Limits::lowest() : Limits::max();
  }
  template <class S>
  static __device__ S fill() {
    return static_cast<S>(nothing<S>());
  }
  /// Loses NaN.
  template <class P>
  static __device__ P join_numbers(P a, P b) {
    return greatest ? max(a, b) : min(a, b);
  }
  template <class P>
  static __device__ P join(P a, P b) {
    const bool is_first = greatest ? a > b : a < b;
    return is_nan(a) || is_first ? a : b;
  }

  template <class P, class S>
  static __device__ P of_elements(unsigned /*tile*/, S x) {
    return widened(x);
  }

  template <class P, class S>
  static __device__ P of_shares(unsigned /*tile*/, const Share<S>& x) {
    if constexpr (sizeof(S) == 1) {
      return of_bytes(x);
    } else {
      constexpr int width = vector_elements<S>;
      P chain[width];
      bool has_nan = false;
      for (int j = 0; j < width; ++j) chain[j] = widened(x.vector(0).at[j]);
      for (int k = 0; k < thread_vectors; ++k) {
        for (int j = 0; j < width; j += 2) {
          const P a = widened(x.vector(k).at[j]);
          const P b = widened(x.vector(k).at[j + 1]);
          has_nan |= is_nan(a) || is_nan(b);
          chain[j] = join_numbers(chain[j], a);
          chain[j + 1] = join_numbers(chain[j + 1], b);
        }
      }
      for (int half = width / 2; half > 0; half /= 2) {
        for (int j = 0; j < half; ++j) chain[j] = join_numbers(chain[j], chain[j + half]);
      }
      return has_nan ? std::numeric_limits<P>::quiet_NaN() : chain[0];
    }
  }

  /// Compares words by their first byte, which is each of the four in turn: the bytes behind it
  /// only decide between equal ones.
  static __device__ unsigned of_bytes(const Share<std::uint8_t>& x) {
    unsigned first[4];
    for (unsigned& word : first) word = nothing<std::uint8_t>() << 24;
    for (const uint4& words : x.words) {
      for (const unsigned word : {words.x, words.y, words.z, words.w}) {
        for (int j = 0; j < 4; ++j) first[j] = join_numbers(first[j], word << (8 * j));
      }
    }
    return join_numbers(join_numbers(first[0] >> 24, first[1] >> 24),
                        join_numbers(first[2] >> 24, first[3] >> 24));
  }

  template <class P>
  static __device__ P last_step(P total, std::int64_t /*n*/) {
    return total;
  }
  template <class P, class S>
  static __device__ void finish(P total, const Span<S>& /*x*/, S* y) {
    if (threadIdx.x == 0) *y = static_cast<S>(total);
  }
};

using Minimum = Extreme<false>;
using Maximum = Extreme<true>;

// --- Places of extremes --------------------------------------------------------------------------

/// Least or greatest element along an axis, and where it is.
template <bool greatest>
struct PlaceAlong {
  template <class S>
  struct Best {
    typename Extreme<greatest>::template Partial<S> value;
    std::int64_t place;
  };
  template <class S>
  using Partial = Best<S>;
  template <class S>
  static __device__ Best<S> nothing() {
    return {Extreme<greatest>::template nothing<S>(), std::numeric_limits<std::int64_t>::max()};
  }
  template <class P, class S>
  static __device__ P of_place(std::int64_t place, S x) {
    return {widened(x), place};
  }
  template <class P>
  static __device__ P join(P a, P b) {
    const bool are_same = a.value == b.value || (is_nan(a.value) && is_nan(b.value));
    if (are_same) return a.place < b.place ? a : b;
    return is_nan(a.value) || (greatest ? a.value > b.value : a.value < b.value) ? a : b;
  }
  /// Joins four elements, each behind those before it: of equal ones the earlier stays.
  template <class P>
  static __device__ P with(P best, P a, P b, P c, P d) {
    for (const P& next : {a, b, c, d}) {
      const bool is_more = greatest ? next.value > best.value : next.value < best.value;
      if (is_more || (is_nan(next.value) && !is_nan(best.value))) best = next;
    }
    return best;
  }
  template <class P>
  static __device__ std::int64_t last_step(P best, std::int64_t /*n*/) {
    return best.place;
  }
};

/// Extreme element of a tile. Has no padding, which lanes would exchange.
template <class P>
struct Best {
  P value;
  std::conditional_t<sizeof(P) == 8, std::uint64_t, unsigned> tile;
};

/// Finds the first tile that holds the extreme element, then its place in that tile.
template <bool greatest>
struct Place {
  using Value = Extreme<greatest>;
  template <class S>
  using Partial = Best<typename Value::template Partial<S>>;
  template <class S>
  static __device__ Partial<S> nothing() {
    return {Value::template nothing<S>(), tail_number};
  }
  template <class S>
  static __device__ S fill() {
    return Value::template fill<S>();
  }
  template <class P>
  static __device__ bool is_same(P a, P b) {
    return a == b || (is_nan(a) && is_nan(b));
  }
  template <class P>
  static __device__ P join(P a, P b) {
    if (is_same(a.value, b.value)) return a.tile < b.tile ? a : b;
    return is_nan(a.value) || (greatest ? a.value > b.value : a.value < b.value) ? a : b;
  }
  template <class P, class S>
  static __device__ P of_elements(unsigned tile, S x) {
    return {widened(x), tile};
  }
  template <class P, class S>
  static __device__ P of_shares(unsigned tile, const Share<S>& x) {
    return {Value::template of_shares<decltype(P::value)>(tile, x), tile};
  }

  template <class P, class S>
  static __device__ void finish(P best, const Span<S>& x, std::int64_t* y) {
    constexpr int width = vector_elements<S>;
    // All filled vectors of a tile lie behind its own.
    unsigned index = 0xffffffff;
    const bool is_edge = best.tile == 0 || best.tile == tail_number;
    std::int64_t first = 0;
    if (is_edge) {
      first = best.tile == 0 ? 0 : x.head + x.vectors * width;
      const std::int64_t end = best.tile == 0 ? x.head : x.n;
      if (first + threadIdx.x < end &&
          is_same<decltype(P::value)>(best.value, widened(x.first[first + threadIdx.x])))
        index = threadIdx.x;
    } else {
      const std::int64_t begin = (best.tile - std::int64_t{1}) * tile_vectors;
      first = x.head + begin * width;
      const auto count = static_cast<int>(std::min<std::int64_t>(x.vectors - begin, tile_vectors));
      const Share<S> share = load_share(x.first + first, count, true, fill<S>());
      for (int k = thread_vectors; k-- > 0;) {
        for (int j = width; j-- > 0;) {
          if (is_same<decltype(P::value)>(best.value, widened(share.vector(k).at[j])))
            index = (k * reduce_threads + threadIdx.x) * width + j;
        }
      }
    }
    index = join_block(
        index, [](unsigned a, unsigned b) { return min(a, b); }, 0xffffffffU);
    if (threadIdx.x == 0) *y = first + index;
  }
};

// --- Kernels -------------------------------------------------------------------------------------

template <class R, class Types>
std::unique_ptr<Kernel> reduction(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Types{}, op, [&]<class T>(std::type_identity<T>) {
    return op.signature.inputs[0].axis
               ? reduce_along<R>(op, binding, input<T>(binding, 0), output<T>(binding))
               : reduce<R>(op, binding, input<T>(binding, 0), output<T>(binding));
  });
}

std::unique_ptr<Kernel> dot(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    return reduce<Chains<Dot>>(op, binding, input<T>(binding, 0), output<T>(binding),
                               input<T>(binding, 1));
  });
}

template <bool greatest>
std::unique_ptr<Kernel> place(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    auto* y = static_cast<std::int64_t*>(binding.outputs[0]);
    return op.signature.inputs[0].axis
               ? reduce_along<PlaceAlong<greatest>>(op, binding, input<T>(binding, 0), y)
               : reduce<Place<greatest>>(op, binding, input<T>(binding, 0), y);
  });
}

constexpr KernelRow rows[] = {
    {"sum", reduction<Chains<Sum>, SignedNumbers>},
    {"prod", reduction<Chains<Product>, SignedNumbers>},
    {"mean", reduction<Chains<Mean>, Floats>},
    {"dot", dot},
    {"norm2", reduction<Chains<Norm>, Floats>},
    {"logsumexp", reduction<LogSumExpOfShares, Floats>},
    {"reduce_min", reduction<Minimum, Numbers>},
    {"reduce_max", reduction<Maximum, Numbers>},
    {"argmax", place<true>},
    {"argmin", place<false>},
    {"sum_axis", reduction<Chains<Sum>, SignedNumbers>},
    {"prod_axis", reduction<Chains<Product>, SignedNumbers>},
    {"mean_axis", reduction<Chains<Mean>, Floats>},
    {"norm2_axis", reduction<Chains<Norm>, Floats>},
    {"logsumexp_axis", reduction<LogSumExpOfShares, Floats>},
    {"reduce_min_axis", reduction<Minimum, Numbers>},
    {"reduce_max_axis", reduction<Maximum, Numbers>},
    {"argmax_axis", place<true>},
    {"argmin_axis", place<false>},
};

}  // namespace

std::span<const KernelRow> reduction_kernels() { return rows; }

}  // namespace assay::cuda
