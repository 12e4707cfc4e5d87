#include <cmath>
#include <functional>
#include <type_traits>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/exact_sum.h"
#include "kernels/reference/families.h"

// Computes one element at a time over all ranks: no order of the ranks is better than another.
namespace assay::reference {
namespace {

/// Stores value + rest as the nearest double and its error. Infinities and NaN have no error.
void set(const Values& out, std::size_t i, double value, double rest, double scale) {
  double error = 0;
  if (std::isfinite(value)) two_sum(value, rest, value, error);
  out.value[i] = value;
  out.rest[i] = error;
  out.scale[i] = scale;
}

/// A product as the sum of two doubles: each step rounds only the lower one. Algorithm CompProd of
/// Graillat: "Accurate floating-point product and exponentiation", IEEE Trans. Comput. 58(7), 2009.
struct ExactProduct {
  double high = 1;
  double low = 0;
  void multiply(double factor) {
    const double product = high * factor;
    low = std::fma(high, factor, -product) + low * factor;
    high = product;
  }
};

struct Sum {
  template <class Terms>
  static void values(const Terms& terms, std::size_t ranks, const Values& out, std::size_t i) {
    ExactSum total;
    double magnitude = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      total.add(terms(rank));
      magnitude += std::abs(terms(rank));
    }
    set(out, i, total.value(), total.rest(), magnitude);
  }
  template <class U, class Terms>
  static U bits(const Terms& terms, std::size_t ranks) {
    U total = 0;  // wraps
    for (std::size_t rank = 0; rank < ranks; ++rank) total += static_cast<U>(terms(rank));
    return total;
  }
};

/// Sum of twice each rank's element.
struct DoubledSum {
  template <class Terms>
  static void values(const Terms& terms, std::size_t ranks, const Values& out, std::size_t i) {
    Sum::values([&](std::size_t rank) { return 2 * terms(rank); }, ranks, out, i);
  }
  template <class U, class Terms>
  static U bits(const Terms& terms, std::size_t ranks) {
    return 2 * Sum::bits<U>(terms, ranks);
  }
};

/// Average. For integers the wrapped sum is divided, towards zero.
struct Average {
  template <class Terms>
  static void values(const Terms& terms, std::size_t ranks, const Values& out, std::size_t i) {
    Sum::values(terms, ranks, out, i);
    const auto n = static_cast<double>(ranks);
    const double quotient = out.value[i] / n;
    // The remainder of a division is exact in a double.
    const double rest = (std::fma(-quotient, n, out.value[i]) + out.rest[i]) / n;
    set(out, i, quotient, rest, out.scale[i] / n);
  }
  template <class U, class Terms>
  static U bits(const Terms& terms, std::size_t ranks) {
    using Signed = std::make_signed_t<U>;
    const U total = Sum::bits<U>(terms, ranks);
    return static_cast<U>(static_cast<Signed>(total) / static_cast<Signed>(ranks));
  }
};

struct Product {
  template <class Terms>
  static void values(const Terms& terms, std::size_t ranks, const Values& out, std::size_t i) {
    ExactProduct product;
    for (std::size_t rank = 0; rank < ranks; ++rank) product.multiply(terms(rank));
    set(out, i, product.high, product.low, std::abs(product.high));
  }
  template <class U, class Terms>
  static U bits(const Terms& terms, std::size_t ranks) {
    U product = 1;  // wraps
    for (std::size_t rank = 0; rank < ranks; ++rank) product *= static_cast<U>(terms(rank));
    return product;
  }
};

/// Reductions by arithmetic: floats give a real number, integers all bits.
template <class F>
Reference arithmetic(const OpInstance& op) {
  return visit_dtype(op.dtype, []<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                  std::span<std::byte> out) {
        using U = std::make_unsigned_t<T>;
        for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
          const std::size_t at = static_cast<std::size_t>(first) + i;
          const auto term = [&](std::size_t rank) { return p.input<T>(0, rank)[at]; };
          store(out, i, F::template bits<U>(term, p.ranks.size()));
        }
      }};
    } else {
      return Reference{
          .values = [](const Problem& p, std::span<const double>, std::int64_t first, Values out) {
            for (std::size_t i = 0; i < out.value.size(); ++i) {
              const std::size_t at = static_cast<std::size_t>(first) + i;
              const auto term = [&](std::size_t rank) { return wide(p.input<T>(0, rank)[at]); };
              F::values(term, p.ranks.size(), out, i);
            }
          }};
    }
  });
}

/// Selects the element that `Before` puts before all others; a NaN if there is one.
template <class Before>
Reference extreme(const OpInstance& op) {
  return visit_dtype(op.dtype, []<class T>(std::type_identity<T>) {
    return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                std::span<std::byte> out) {
      for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
        const std::size_t at = static_cast<std::size_t>(first) + i;
        T found = p.input<T>(0, 0)[at];
        for (std::size_t rank = 1; rank < p.ranks.size(); ++rank) {
          const T other = p.input<T>(0, rank)[at];
          if constexpr (std::is_integral_v<T>) {
            if (Before{}(other, found)) found = other;
          } else {
            if (std::isnan(wide(other)) || Before{}(wide(other), wide(found))) found = other;
          }
        }
        store(out, i, found);
      }
    }};
  });
}

Reference allreduce(const OpInstance& op) {
  const std::string& reduce = op.params.word("reduce");
  if (reduce == "sum") return arithmetic<Sum>(op);
  if (reduce == "prod") return arithmetic<Product>(op);
  if (reduce == "premul_sum") return arithmetic<DoubledSum>(op);
  if (reduce == "avg") return arithmetic<Average>(op);
  return reduce == "min" ? extreme<std::less<>>(op) : extreme<std::greater<>>(op);
}

constexpr ReferenceRow rows[] = {
    {"allreduce", allreduce},
};

}  // namespace

std::span<const ReferenceRow> collective_references() { return rows; }

}  // namespace assay::reference
