#include <algorithm>
#include <array>
#include <cmath>

#include "emulator/machine/float_rules.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/numbers/clones.h"

namespace emulator {
namespace {

// `plain` is the operation as the compiler may vectorise it, `rounded` the one under another
// rounding mode.
struct Add {
  template <class T>
  static T plain(T a, T b, T) {
    return a + b;
  }
  template <class T>
  static T rounded(T a, T b, T) {
    return opaque_add(a, b);
  }
};
struct Sub {
  template <class T>
  static T plain(T a, T b, T) {
    return a - b;
  }
  template <class T>
  static T rounded(T a, T b, T) {
    return opaque_sub(a, b);
  }
};
struct Mul {
  template <class T>
  static T plain(T a, T b, T) {
    return a * b;
  }
  template <class T>
  static T rounded(T a, T b, T) {
    return opaque_mul(a, b);
  }
};
struct Div {
  template <class T>
  static T plain(T a, T b, T) {
    return a / b;
  }
  template <class T>
  static T rounded(T a, T b, T) {
    return opaque_div(a, b);
  }
};
struct Fma {
  template <class T>
  static T plain(T a, T b, T c) {
    return std::fma(a, b, c);
  }
  template <class T>
  static T rounded(T a, T b, T c) {
    return opaque_fma(a, b, c);
  }
};

/// d = op(a, b, c), rounded to nearest, no modifier.
template <class T, class Op>
void plain(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b), *c = warp.at<T>(code.c);
  for_lanes(lanes, [=](int i) { d[i] = with_canonical_nan(Op::plain(a[i], b[i], c[i])); });
}

/// The same for hosts that fuse: elsewhere each lane's fma is a call.
template <class T, class Op>
ASSAY_CLONE void plain_wide(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b), *c = warp.at<T>(code.c);
  // Lanes that do not take part compute as well, in place of a branch for each.
  std::array<T, warp_lanes> results;
#pragma GCC ivdep
  for (std::size_t i = 0; i < warp_lanes; ++i)
    results[i] = with_canonical_nan(Op::plain(a[i], b[i], c[i]));
  if (lanes == all_lanes)
    std::copy(results.begin(), results.end(), d);
  else
    for_lanes(lanes, [&](int i) { d[i] = results[static_cast<std::size_t>(i)]; });
}

/// variant: the rounding; flag: ftz; flag2: sat.
template <class T, class Op>
void modified(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b), *c = warp.at<T>(code.c);
  const RoundingScope scope(static_cast<Rounding>(code.variant));
  const bool ftz = code.flag, sat = code.flag2;
  for_lanes(lanes, [=](int i) {
    T result = ftz ? flushed(Op::rounded(flushed(a[i]), flushed(b[i]), flushed(c[i])))
                   : Op::rounded(a[i], b[i], c[i]);
    result = with_canonical_nan(result);
    d[i] = sat ? saturated_unit(result) : result;
  });
}

template <class Op>
void decode_float(Decoder& decoder, ptx::Type type, std::size_t sources, Rounding rounding) {
  const bool single = type == ptx::Type::f32;
  if (!single && type != ptx::Type::f64) decoder.fail_type(type);
  decoder.code.variant = static_cast<unsigned char>(rounding);
  decoder.code.flag = single && decoder.take("ftz");
  decoder.code.flag2 = single && decoder.take("sat");
  take_operands(decoder, type, sources);
  if (sources < 3) decoder.code.c = decoder.code.b;
  if (rounding == Rounding::nearest && !decoder.code.flag && !decoder.code.flag2)
    return has_wide_vectors()
               ? decoder.emit(single ? plain_wide<float, Op> : plain_wide<double, Op>)
               : decoder.emit(single ? plain<float, Op> : plain<double, Op>);
  decoder.emit(single ? modified<float, Op> : modified<double, Op>);
}

/// NaN loses against numbers, and -0 is below +0. With `propagates` (.NaN) NaN wins.
template <class T, bool maximum>
T extreme(T a, T b, bool propagates) {
  if (a != a || b != b) {
    if (propagates || (a != a && b != b)) return canonical_nan<T>();
    return a != a ? b : a;
  }
  if (a == b) return std::signbit(a) == maximum ? b : a;
  return (a < b) == maximum ? b : a;
}

template <class T, bool maximum>
void run_extreme(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b);
  const bool ftz = code.flag, propagates = code.flag2;
  for_lanes(lanes, [=](int i) {
    d[i] = ftz ? extreme<T, maximum>(flushed(a[i]), flushed(b[i]), propagates)
               : extreme<T, maximum>(a[i], b[i], propagates);
  });
}

template <bool maximum>
void decode_extreme(Decoder& decoder, ptx::Type type) {
  const bool single = type == ptx::Type::f32;
  decoder.code.flag = single && decoder.take("ftz");
  decoder.code.flag2 = single && decoder.take("NaN");
  take_operands(decoder, type, 2);
  decoder.emit(single ? run_extreme<float, maximum> : run_extreme<double, maximum>);
}

/// Signs are bits: NaN keeps its payload.
template <class T, bool negates>
void run_sign(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T* a = warp.at<T>(code.a);
  const bool ftz = code.flag;
  for_lanes(lanes, [=](int i) {
    const T value = ftz ? flushed(a[i]) : a[i];
    d[i] = negates ? -value : std::fabs(value);
  });
}

template <bool negates>
void decode_sign(Decoder& decoder, ptx::Type type) {
  const bool single = type == ptx::Type::f32;
  decoder.code.flag = single && decoder.take("ftz");
  take_operands(decoder, type, 1);
  decoder.emit(single ? run_sign<float, negates> : run_sign<double, negates>);
}

enum Property : unsigned char { finite, infinite, number, not_a_number, normal, subnormal };

template <class T>
bool has_property(T value, unsigned char property) {
  switch (property) {
    case finite:
      return std::isfinite(value);
    case infinite:
      return std::isinf(value);
    case number:
      return !std::isnan(value);
    case not_a_number:
      return std::isnan(value);
    case normal:
      return std::isnormal(value);
    default:
      return std::fpclassify(value) == FP_SUBNORMAL;
  }
}

template <class T>
void run_testp(Warp& warp, const Code& code, Mask lanes) {
  const T* a = warp.at<T>(code.a);
  Mask result = 0;
  for_lanes(lanes, [&](int i) { result |= has_property(a[i], code.variant) ? Mask{1} << i : 0; });
  Mask& d = warp.predicate(code.d);
  d = (d & ~lanes) | result;
}

/// The sign of a, the rest of b.
template <class T>
void run_copysign(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b);
  for_lanes(lanes, [=](int i) { d[i] = std::copysign(b[i], a[i]); });
}

}  // namespace

void decode_float_add(Decoder& decoder, ptx::Type type) {
  decode_float<Add>(decoder, type, 2, decoder.rounding().value_or(Rounding::nearest));
}
void decode_float_sub(Decoder& decoder, ptx::Type type) {
  decode_float<Sub>(decoder, type, 2, decoder.rounding().value_or(Rounding::nearest));
}
void decode_float_mul(Decoder& decoder, ptx::Type type) {
  decode_float<Mul>(decoder, type, 2, decoder.rounding().value_or(Rounding::nearest));
}
void decode_float_min(Decoder& decoder, ptx::Type type) { decode_extreme<false>(decoder, type); }
void decode_float_max(Decoder& decoder, ptx::Type type) { decode_extreme<true>(decoder, type); }
void decode_float_abs(Decoder& decoder, ptx::Type type) { decode_sign<false>(decoder, type); }
void decode_float_neg(Decoder& decoder, ptx::Type type) { decode_sign<true>(decoder, type); }

void decode_float_mad(Decoder& decoder, ptx::Type type) {
  const auto rounding = decoder.rounding();
  if (!rounding) decoder.fail("a rounding is missing");
  decode_float<Fma>(decoder, type, 3, *rounding);
}

void decode_float_div(Decoder& decoder, ptx::Type type) {
  if (const auto rounding = decoder.rounding())
    return decode_float<Div>(decoder, type, 2, *rounding);
  decode_approximate_div(decoder, type);
}

namespace {

void decode_fma(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::f32 && type != ptx::Type::f64) return decode_half(decoder, type, "fma");
  decode_float_mad(decoder, type);
}

void decode_testp(Decoder& decoder) {
  constexpr std::string_view names[] = {"finite",     "infinite", "number",
                                        "notanumber", "normal",   "subnormal"};
  bool known = false;
  for (unsigned char property = 0; property < 6; ++property) {
    if (!decoder.take(names[property])) continue;
    decoder.code.variant = property;
    known = true;
  }
  if (!known) decoder.fail("a property is missing");
  const ptx::Type type = decoder.type();
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, ptx::Type::pred);
  decoder.code.a = decoder.source(1, type);
  if (type == ptx::Type::f32) return decoder.emit(run_testp<float>);
  if (type == ptx::Type::f64) return decoder.emit(run_testp<double>);
  decoder.fail_type(type);
}

void decode_copysign(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  take_operands(decoder, type, 2);
  if (type == ptx::Type::f32) return decoder.emit(run_copysign<float>);
  if (type == ptx::Type::f64) return decoder.emit(run_copysign<double>);
  decoder.fail_type(type);
}

const Opcodes opcodes{{"fma", decode_fma}, {"testp", decode_testp}, {"copysign", decode_copysign}};

}  // namespace
}  // namespace emulator
