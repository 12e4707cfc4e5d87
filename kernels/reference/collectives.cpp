#include "kernels/ops/collectives.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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
  // A sum with +0 would turn -0 into it.
  if (std::isfinite(value) && value != 0) two_sum(value, rest, value, error);
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

/// Index in a rank's input of the first element of an output: a rank may get a chunk of the
/// reduction.
std::size_t chunk_begin(const Problem& p) {
  const bool is_chunk = collective_of(p.op) == Collective::reduce_scatter;
  return is_chunk ? static_cast<std::size_t>(p.of_rank * p.op.params.integer("count")) : 0;
}

/// Reductions by arithmetic: floats give a real number, integers all bits.
template <class F>
Reference arithmetic(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                  std::span<std::byte> out) {
        using U = std::make_unsigned_t<T>;
        const std::size_t begin = chunk_begin(p) + static_cast<std::size_t>(first);
        for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
          const std::size_t at = begin + i;
          const auto term = [&](std::size_t rank) { return p.input<T>(0, rank)[at]; };
          store(out, i, F::template bits<U>(term, p.ranks.size()));
        }
      }};
    } else {
      return Reference{
          .values = [](const Problem& p, std::span<const double>, std::int64_t first, Values out) {
            const std::size_t begin = chunk_begin(p) + static_cast<std::size_t>(first);
            for (std::size_t i = 0; i < out.value.size(); ++i) {
              const std::size_t at = begin + i;
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
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                std::span<std::byte> out) {
      const std::size_t begin = chunk_begin(p) + static_cast<std::size_t>(first);
      for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
        const std::size_t at = begin + i;
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

Reference reduction(const OpInstance& op) {
  const std::string& reduce = op.params.word("reduce");
  if (reduce == "sum") return arithmetic<Sum>(op);
  if (reduce == "prod") return arithmetic<Product>(op);
  if (reduce == "premul_sum") return arithmetic<DoubledSum>(op);
  if (reduce == "avg") return arithmetic<Average>(op);
  return reduce == "min" ? extreme<std::less<>>(op) : extreme<std::greater<>>(op);
}

/// Where elements of a rank's output come from.
struct Source {
  std::size_t rank;
  std::size_t at;
};

/// Source of the elements from i to the end of a chunk of `count`.
Source source_of(const Problem& p, std::size_t i, std::size_t count) {
  const std::size_t chunk = i / count;
  switch (*collective_of(p.op)) {
    case Collective::all_gather:  // in place a chunk is where it belongs in the output
      return {chunk, p.op.signature.in_place ? i : i % count};
    case Collective::all_to_all:
      return {chunk, static_cast<std::size_t>(p.of_rank) * count + i % count};
    case Collective::broadcast:
      return {static_cast<std::size_t>(p.op.params.integer_or("root", 0)), i};
    default: {
      // Not by peers_of, which kernels use: a ring turned round would look right. A pair names its
      // sender; in a ring it is the rank before.
      const std::int64_t before = p.of_rank == 0 ? p.op.signature.ranks - 1 : p.of_rank - 1;
      return {static_cast<std::size_t>(p.op.params.integer_or("from", before)), i};
    }
  }
}

/// Moves the bits of elements from rank to rank.
Reference move(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                std::span<std::byte> out) {
      const auto count = static_cast<std::size_t>(p.op.params.integer("count"));
      auto to = static_cast<std::size_t>(first);
      while (!out.empty()) {
        const Source from = source_of(p, to, count);
        const std::size_t elements = std::min(count - to % count, out.size() / sizeof(T));
        const auto run = p.input<T>(0, from.rank).subspan(from.at, elements);
        std::memcpy(out.data(), run.data(), run.size_bytes());
        out = out.subspan(run.size_bytes());
        to += elements;
      }
    }};
  });
}

constexpr ReferenceRow rows[] = {
    {"allreduce", reduction}, {"reduce", reduction},    {"reduce_scatter", reduction},
    {"all_gather", move},     {"broadcast", move},      {"all_to_all", move},
    {"send_recv", move},      {"send_recv_pair", move},
};

}  // namespace

std::span<const ReferenceRow> collectives_references() { return rows; }

}  // namespace assay::reference
