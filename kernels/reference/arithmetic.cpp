#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/exact_sum.h"
#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

struct Add {
  auto operator()(auto a, auto b) const { return a + b; }
};
struct Subtract {
  auto operator()(auto a, auto b) const { return a - b; }
};
struct Multiply {
  auto operator()(auto a, auto b) const { return a * b; }
};
struct Divide {
  auto operator()(auto a, auto b) const { return a / b; }
};
struct Square {
  auto operator()(auto x) const { return x * x; }
};
struct Negate {
  auto operator()(auto x) const {
    if constexpr (std::is_integral_v<decltype(x)>) {
      return decltype(x)(0) - x;
    } else {
      return -x;
    }
  }
};
/// Integers come as unsigned ones: the upper half are the negative ones.
struct Absolute {
  template <class T>
  auto operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      const bool negative = x > std::numeric_limits<T>::max() / 2;
      return negative ? static_cast<T>(T{0} - x) : x;
    } else {
      return std::fabs(x);
    }
  }
};
struct SquareRoot {
  template <class T>
  auto operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;  // no such op
    } else {
      return std::sqrt(x);
    }
  }
};
struct FusedMultiplyAdd {
  template <class T>
  auto operator()(T a, T b, T c) const {
    if constexpr (std::is_integral_v<T>) {
      return a * b + c;
    } else {
      return std::fma(a, b, c);
    }
  }
};
/// Of 16-bit floats in double: the product is exact there. The sum may not be, and the product of
/// two bf16 may lie in the middle between two results: what the sum misses must still tell to which
/// side. A last bit that is odd does (Boldo, Melquiond, IEEE Trans. Comput. 57(4), 2008).
struct NarrowFusedMultiplyAdd {
  template <class T>
  auto operator()(T a, T b, T c) const {
    if constexpr (std::is_same_v<T, double>) {
      double sum = 0;
      double rest = 0;
      two_sum(a * b, c, sum, rest);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &sum, sizeof bits);
      const bool missed = rest < 0 || rest > 0;
      if (!missed || bits % 2 == 1) return sum;
      const double infinity = std::numeric_limits<double>::infinity();
      return std::nextafter(sum, rest > 0 ? infinity : -infinity);
    } else {
      return FusedMultiplyAdd{}(a, b, c);
    }
  }
};

Reference fused_multiply_add(const OpInstance& op) {
  const bool is_narrow = is_floating(op.dtype) && size_bytes(op.dtype) == 2;
  return is_narrow ? exactly<NarrowFusedMultiplyAdd, 3>(op) : exactly<FusedMultiplyAdd, 3>(op);
}

/// y[i] = x[i] a
template <class T>
void scale_bits(const Problem& p, std::span<const double>, std::int64_t first,
                std::span<std::byte> out) {
  const auto a = operand(p.input<T>(1)[0]);
  for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
    const auto y = operand(p.input<T>(0)[static_cast<std::size_t>(first) + i]) * a;
    if constexpr (is_narrow_float<T>) {
      store(out, i, rounded<T>(y));
    } else {
      store(out, i, static_cast<T>(y));
    }
  }
}

Reference scale(const OpInstance& op) {
  return visit_dtype(
      op.dtype, []<class T>(std::type_identity<T>) { return Reference{.bits = scale_bits<T>}; });
}

Reference squares_of_three(const OpInstance&) {
  return {.bits = [](const Problem&, std::span<const double>, std::int64_t first,
                     std::span<std::byte> out) {
    constexpr std::array<std::int64_t, 3> squares{1, 4, 9};
    for (std::size_t i = 0; i < out.size() / sizeof(std::int64_t); ++i) {
      store(out, i, squares.at(static_cast<std::size_t>(first) + i));
    }
  }};
}

constexpr ReferenceRow rows[] = {
    {"add", exactly<Add, 2>},
    {"sub", exactly<Subtract, 2>},
    {"mul", exactly<Multiply, 2>},
    {"div", exactly<Divide, 2>},
    {"square", exactly<Square, 1>},
    {"neg", exactly<Negate, 1>},
    {"abs", exactly<Absolute, 1>},
    {"sqrt", exactly<SquareRoot, 1>},
    {"scale", scale},
    {"fma", fused_multiply_add},
    {"results_stay", exactly<Square, 1>},
    {"square_123", squares_of_three},
};

}  // namespace

std::span<const ReferenceRow> arithmetic_references() { return rows; }

}  // namespace assay::reference
