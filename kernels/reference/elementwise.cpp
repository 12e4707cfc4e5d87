#include "kernels/reference/elementwise.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

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
/// Integers come as unsigned: the upper half stands for the negative ones.
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
struct Floor {
  template <class T>
  auto operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;  // no such op
    } else {
      return std::floor(x);
    }
  }
};
struct Ceiling {
  template <class T>
  auto operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;  // no such op
    } else {
      return -std::floor(-x);
    }
  }
};
/// The nearer of the two whole numbers around x, or the even one.
struct RoundToWhole {
  template <class T>
  auto operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;  // no such op
    } else {
      const T below = std::floor(x);
      // Exact but where x is next to -0.5 or 0: there it stays on its side of 0.5, or is that, and
      // -1 is odd.
      const T part = x - below;
      const bool is_odd = std::fmod(below, T{2}) != 0;
      const bool is_up = part > T{0.5} || (part == T{0.5} && is_odd);
      return std::copysign(is_up ? below + 1 : below, x);
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
/// Computes 16-bit floats in double, where the product is exact. The sum may be inexact, and the
/// product of two bf16 may lie midway between two results. An odd last bit keeps the side on which
/// the exact sum lies (Boldo, Melquiond, IEEE Trans. Comput. 57(4), 2008).
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
  const bool is_narrow = is_floating(op.format) && size_bytes(op.dtype()) == 2;
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
  return visit_computed(
      op.dtype(), []<class T>(std::type_identity<T>) { return Reference{.bits = scale_bits<T>}; });
}

// Ops that choose among their operands: results are elements, never rounded.

bool is_nan(double x) { return std::isnan(x); }

template <class T>
bool before(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    return wide(a) < wide(b);
  }
}

template <class T>
bool not_a_number(T x) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return is_nan(wide(x));
  }
}

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    if (not_a_number(a)) return a;
    if (not_a_number(b)) return b;
    return before(b, a) ? b : a;
  }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    if (not_a_number(a)) return a;
    if (not_a_number(b)) return b;
    return before(a, b) ? b : a;
  }
};

struct Less {
  template <class T>
  std::uint8_t operator()(T a, T b) const {
    return before(a, b) ? 1 : 0;
  }
};

struct Equal {
  template <class T>
  std::uint8_t operator()(T a, T b) const {
    return !not_a_number(a) && !not_a_number(b) && !before(a, b) && !before(b, a) ? 1 : 0;
  }
};

struct IsNan {
  template <class T>
  std::uint8_t operator()(T x) const {
    return not_a_number(x) ? 1 : 0;
  }
};

struct Relu {
  template <class T>
  T operator()(T x) const {
    return not_a_number(x) || before(T{}, x) ? x : T{};
  }
};

/// y[i] = f(x[i], ...) on unconverted elements; f chooses the type.
template <class F, int Inputs>
Reference chosen(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                std::span<std::byte> out) {
      const T* a = p.input<T>(0).data() + first;
      if constexpr (Inputs == 1) {
        using Y = decltype(F{}(T{}));
        for (std::size_t i = 0; i < out.size() / sizeof(Y); ++i) store(out, i, F{}(a[i]));
      } else {
        const T* b = p.input<T>(1).data() + first;
        using Y = decltype(F{}(T{}, T{}));
        for (std::size_t i = 0; i < out.size() / sizeof(Y); ++i) store(out, i, F{}(a[i], b[i]));
      }
    }};
  });
}

/// y[i] = x[i], raised to one end and then lowered to the other.
template <class T>
void clamp_bits(const Problem& p, std::span<const double>, std::int64_t first,
                std::span<std::byte> out) {
  const T low = p.input<T>(1)[0];
  const T high = p.input<T>(2)[0];
  for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
    const T x = p.input<T>(0)[static_cast<std::size_t>(first) + i];
    const T raised = before(x, low) ? low : x;
    store(out, i, before(high, raised) ? high : raised);
  }
}

Reference clamp(const OpInstance& op) {
  return visit_computed(
      op.dtype(), []<class T>(std::type_identity<T>) { return Reference{.bits = clamp_bits<T>}; });
}

/// Bytes of a whole element, by its size alone.
std::span<const std::byte> element(const Problem& p, std::size_t input, std::size_t i) {
  const std::size_t bytes = size_bytes(p.op.dtype());
  return p.ranks[0][input].bytes().subspan(i * bytes, bytes);
}

template <class Choose>
void move_elements(const Problem& p, std::span<std::byte> out, const Choose& choose) {
  const std::size_t bytes = size_bytes(p.op.dtype());
  for (std::size_t i = 0; i < out.size() / bytes; ++i) {
    const auto from = choose(i);
    std::copy(from.begin(), from.end(), out.begin() + static_cast<std::ptrdiff_t>(i * bytes));
  }
}

void where_bits(const Problem& p, std::span<const double>, std::int64_t first,
                std::span<std::byte> out) {
  const auto mask = p.input<std::uint8_t>(0);
  move_elements(p, out, [&](std::size_t i) {
    const std::size_t at = static_cast<std::size_t>(first) + i;
    return element(p, mask[at] != 0 ? 1 : 2, at);
  });
}

void fill_bits(const Problem& p, std::span<const double>, std::int64_t, std::span<std::byte> out) {
  move_elements(p, out, [&](std::size_t) { return element(p, 0, 0); });
}

void copy_bits(const Problem& p, std::span<const double>, std::int64_t first,
               std::span<std::byte> out) {
  move_elements(p, out,
                [&](std::size_t i) { return element(p, 0, static_cast<std::size_t>(first) + i); });
}

Reference where(const OpInstance&) { return {.bits = where_bits}; }
Reference fill(const OpInstance&) { return {.bits = fill_bits}; }
Reference copy(const OpInstance&) { return {.bits = copy_bits}; }

constexpr ReferenceRow rows[] = {
    {"add", exactly<Add, 2>},
    {"sub", exactly<Subtract, 2>},
    {"mul", exactly<Multiply, 2>},
    {"div", exactly<Divide, 2>},
    {"square", exactly<Square, 1>},
    {"neg", exactly<Negate, 1>},
    {"abs", exactly<Absolute, 1>},
    {"sqrt", exactly<SquareRoot, 1>},
    {"floor", exactly<Floor, 1>},
    {"ceil", exactly<Ceiling, 1>},
    {"round", exactly<RoundToWhole, 1>},
    {"isnan", chosen<IsNan, 1>},
    {"clamp", clamp},
    {"scale", scale},
    {"fma", fused_multiply_add},
    {"min", chosen<Minimum, 2>},
    {"max", chosen<Maximum, 2>},
    {"less", chosen<Less, 2>},
    {"equal", chosen<Equal, 2>},
    {"relu", chosen<Relu, 1>},
    {"where", where},
    {"fill", fill},
    {"copy", copy},
};

}  // namespace

std::span<const ReferenceRow> elementwise_references() { return rows; }

}  // namespace assay::reference
