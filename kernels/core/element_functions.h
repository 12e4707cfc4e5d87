#pragma once

#include <math.h>  // NOLINT(*-deprecated-headers): names without std::, which GPUs have too

#include <cstdint>
#include <limits>
#include <type_traits>

// Functions of elementwise ops. CPUs and GPUs compile them from this one text; references do not
// use them. Arguments have the type that a backend computes in: 16-bit floats come as f32.
//
// `rounds` is false if the result of representable arguments needs no rounding.
#ifdef __CUDACC__
#define ASSAY_ELEMENT_FUNCTION __host__ __device__
#else
#define ASSAY_ELEMENT_FUNCTION
#endif

namespace assay {

/// Converts integers to unsigned, so that their arithmetic wraps.
template <class T>
ASSAY_ELEMENT_FUNCTION auto wrapping(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(x);
  } else {
    return x;
  }
}

struct Identity {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    return x;
  }
};

struct Add {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};

struct Subtract {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) - wrapping(b));
  }
};

struct Multiply {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
};

struct Divide {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    return a / b;
  }
};

struct Square {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    return static_cast<T>(wrapping(x) * wrapping(x));
  }
};

struct Negate {
  static constexpr bool rounds = false;
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(0 - wrapping(x));
    } else {
      return -x;
    }
  }
};

struct Absolute {
  static constexpr bool rounds = false;
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(x < 0 ? 0 - wrapping(x) : wrapping(x));
    } else {
      return fabs(x);
    }
  }
};

struct SquareRoot {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    return sqrt(x);
  }
};

struct Floor {
  static constexpr bool rounds = false;
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    return floor(x);
  }
};

struct Ceiling {
  static constexpr bool rounds = false;
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    return ceil(x);
  }
};

/// Rounds to the nearest whole number, half to even.
struct RoundToWhole {
  static constexpr bool rounds = false;
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    return rint(x);
  }
};

struct FusedMultiplyAdd {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b, T c) const {
    return fma(a, b, c);
  }
};

/// Returns NaN if either operand is NaN: if a is NaN, b < a is false.
struct Minimum {
  static constexpr bool rounds = false;
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    const T lesser = b < a ? b : a;
    if constexpr (std::is_integral_v<T>) {
      return lesser;
    } else {
      return b != b ? b : lesser;
    }
  }
};

struct Maximum {
  static constexpr bool rounds = false;
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    const T greater = a < b ? b : a;
    if constexpr (std::is_integral_v<T>) {
      return greater;
    } else {
      return b != b ? b : greater;
    }
  }
};

struct Less {
  template <class T>
  ASSAY_ELEMENT_FUNCTION bool operator()(T a, T b) const {
    return a < b;
  }
};

struct Equal {
  template <class T>
  ASSAY_ELEMENT_FUNCTION bool operator()(T a, T b) const {
    return a == b;
  }
};

struct IsNan {
  template <class T>
  ASSAY_ELEMENT_FUNCTION bool operator()(T x) const {
    return x != x;
  }
};

/// min(max(x, low), high). Keeps a NaN.
struct Clamp {
  static constexpr bool rounds = false;
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x, T low, T high) const {
    const T raised = x < low ? low : x;
    return high < raised ? high : raised;
  }
};

/// Returns `a` where the mask is not 0, else `b`.
struct Choose {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(std::uint8_t mask, T a, T b) const {
    return mask != 0 ? a : b;
  }
};

/// Keeps a NaN: x <= 0 is false for it.
struct Relu {
  static constexpr bool rounds = false;
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    return x <= 0 ? T{0} : x;
  }
};

/// The quotient, rounded towards 0. Processors trap divisors of 0, which give 0 here, and the
/// quotient of the least number and -1, which wraps.
template <class T>
ASSAY_ELEMENT_FUNCTION T truncated_quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(0 - wrapping(a));
  }
  return static_cast<T>(a / b);
}

/// floor(a / b), where b is not 0: rounded down, as Python does.
struct FloorDivide {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    const T quotient = truncated_quotient(a, b);
    const auto rest = wrapping(a) - wrapping(quotient) * wrapping(b);
    const bool is_below = std::is_signed_v<T> && rest != 0 && (a < 0) != (b < 0);
    return static_cast<T>(wrapping(quotient) - (is_below ? 1 : 0));
  }
};

/// a - b floor(a / b), where b is not 0: of the sign of b, as in Python.
struct Remainder {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    const auto rest =
        static_cast<T>(wrapping(a) - wrapping(truncated_quotient(a, b)) * wrapping(b));
    const bool is_other_side = std::is_signed_v<T> && rest != 0 && (rest < 0) != (b < 0);
    return static_cast<T>(wrapping(rest) + (is_other_side ? wrapping(b) : 0));
  }
};

/// The number of bits to shift by: below those of T, as processors take it.
template <class T>
ASSAY_ELEMENT_FUNCTION int shift(T bits) {
  return static_cast<int>(bits) & (8 * static_cast<int>(sizeof(T)) - 1);
}

struct ShiftLeft {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) << shift(b));
  }
};

/// Lets the sign in from the left.
struct ShiftRight {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(a >> shift(b));
  }
};

struct BitAnd {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct BitNot {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

/// The logistic function by the exp of `Math`. With e = exp(-|x|), which never overflows, both
/// tails keep their precision.
template <class Math>
struct LogisticBy {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    const T e = Math::exp(-fabs(x));
    return (x < 0 ? e : T{1}) / (1 + e);
  }
};

/// x Phi(x) with the tanh of Hendrycks and Gimpel (arXiv:1606.08415, section 2): (1 + tanh z) / 2
/// is the logistic of 2 z.
template <class Math>
struct GeluTanhBy {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    constexpr auto slope = static_cast<T>(1.595769121605730711759);  // 2 sqrt(2 / pi)
    return x * LogisticBy<Math>{}(slope * (x + T(0.044715) * x * x * x));
  }
};

}  // namespace assay
