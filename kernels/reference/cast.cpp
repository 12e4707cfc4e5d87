#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

/// The number itself: in double, or for 64-bit integers in long double, whose significand has 64
/// bits. All casts begin here.
template <class X>
auto exact_value(X x) {
  if constexpr (std::is_integral_v<X> && sizeof(X) == 8) {
    return static_cast<long double>(x);
  } else {
    return wide(x);
  }
}

/// Rounds like round_to_format, for the 64 bits of a long double.
template <class Y>
Y narrowed(long double x, int significand, int smallest, int largest) {
  if (x == 0 || !std::isfinite(x)) return Y(static_cast<float>(x));
  const int q = std::max(std::ilogb(x), smallest) - (significand - 1);
  const long double y = std::ldexp(std::nearbyint(std::ldexp(x, -q)), q);
  const bool overflows = std::abs(y) >= std::ldexp(1.0L, largest + 1);
  const auto infinity =
      std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(x));
  return Y(overflows ? infinity : static_cast<float>(y));
}

template <class Y, class X>
Y converted(X x) {
  if constexpr (std::is_same_v<Y, Bool8>) {
    Y y;
    y.bits = exact_value(x) == 0 ? 0 : 1;  // NaN is no zero
    return y;
  } else if constexpr (std::is_integral_v<X> && std::is_integral_v<Y>) {
    return static_cast<Y>(x);  // wraps modulo 2^bits
  } else if constexpr (std::is_same_v<decltype(exact_value(x)), double> && !std::is_integral_v<Y>) {
    return rounded<Y>(exact_value(x));
  } else if constexpr (std::is_same_v<Y, BFloat16>) {
    return narrowed<Y>(exact_value(x), 8, -126, 127);
  } else if constexpr (std::is_same_v<Y, Float16>) {
    return narrowed<Y>(exact_value(x), 11, -14, 15);
  } else if constexpr (is_float8<Y>) {
    return nearest_float8<Y>(exact_value(x));
  } else if constexpr (std::is_integral_v<Y>) {
    return static_cast<Y>(std::trunc(exact_value(x)));
  } else {
    return static_cast<Y>(exact_value(x));
  }
}

/// The bits of a number of at most 16 bits.
template <class X>
using Code = std::conditional_t<sizeof(X) == 1, std::uint8_t, std::uint16_t>;

/// The results of all inputs of at most 16 bits. Looking them up is worth it for more elements.
template <class Y, class X>
const std::vector<Y>& results_of_all() {
  static const std::vector<Y> results = [] {
    std::vector<Y> all(std::size_t{1} << (8 * sizeof(X)));
    for (std::size_t code = 0; code < all.size(); ++code) {
      all[code] = converted<Y>(std::bit_cast<X>(static_cast<Code<X>>(code)));
    }
    return all;
  }();
  return results;
}

template <class Y, class X>
void convert(std::span<const X> x, std::size_t first, std::span<std::byte> out) {
  const std::span<const X> part = x.subspan(first, out.size() / sizeof(Y));
  if constexpr (sizeof(X) <= 2) {
    if (x.size() > std::size_t{4} << (8 * sizeof(X))) {
      const std::vector<Y>& results = results_of_all<Y, X>();
      for (std::size_t i = 0; i < part.size(); ++i) {
        store(out, i, results[std::bit_cast<Code<X>>(part[i])]);
      }
      return;
    }
  }
  for (std::size_t i = 0; i < part.size(); ++i) store(out, i, converted<Y>(part[i]));
}

Reference cast(const OpInstance& op) {
  return visit_dtype(op.dtype(), [&]<class X>(std::type_identity<X>) {
    return visit_dtype(output_dtype(op), []<class Y>(std::type_identity<Y>) {
      return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                  std::span<std::byte> out) {
        convert<Y>(p.input<X>(0), static_cast<std::size_t>(first), out);
      }};
    });
  });
}

constexpr ReferenceRow rows[] = {
    {"cast", cast},
};

}  // namespace

std::span<const ReferenceRow> cast_references() { return rows; }

}  // namespace assay::reference
