#include "emulator/machine/block.h"
#include "emulator/machine/float_rules.h"
#include "emulator/machine/instructions/half_rules.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

// rcp, sqrt, div.approx and the transcendental functions. The approximate ones are correctly
// rounded here, up to the error of the host's double-precision functions; Settings::approximate
// adds the error that the PTX ISA documents as the largest.
namespace emulator {
namespace {

/// The documented largest error: relative to the result, absolute, or in units of its last place;
/// the largest of these.
struct Error {
  double relative = 0, absolute = 0, ulps = 0;
};

/// The distance of f32 numbers at a value.
double ulp_of_single(double value) { return std::exp2(std::max(std::ilogb(value), -126) - 23); }

struct Rcp {
  static constexpr Error error{.ulps = 1};
  static double apply(double a) { return 1 / a; }
};
struct Sqrt {
  static constexpr Error error{0x1p-23, 0};
  static double apply(double a) { return std::sqrt(a); }
};
struct Rsqrt {
  static constexpr Error error{1.1e-7, 0};  // 2^-22.9
  static double apply(double a) {
    return a == 0 ? std::copysign(std::numeric_limits<double>::infinity(), a) : 1 / std::sqrt(a);
  }
};
struct Sin {
  static constexpr Error error{0, 6.7e-7};  // 2^-20.5
  static double apply(double a) { return std::sin(a); }
};
struct Cos {
  static constexpr Error error{0, 5.1e-7};  // 2^-20.9
  static double apply(double a) { return std::cos(a); }
};
struct Lg2 {
  static constexpr Error error{0x1p-22, 0};
  static double apply(double a) { return std::log2(a); }
};
/// Powers of integers are exact: functions of doubles, which err by 1 or 2 ulp, are built on them.
struct Ex2 {
  static constexpr Error error{.ulps = 2};
  static bool is_exact(double a) { return a == std::floor(a); }
  static double apply(double a) { return std::exp2(a); }
};
struct Tanh {
  static constexpr Error error{0x1p-11, 0};
  static double apply(double a) { return std::tanh(a); }
};

/// A number between -1 and 1, mostly one of them. The operand alone decides: a GPU gives the same
/// result for it each time.
double noise(std::uint64_t bits) {
  const std::uint64_t drawn = mix(bits);
  const double size = (drawn & 6) == 0 ? static_cast<double>(drawn >> 11) * 0x1p-53 : 1;
  return (drawn & 1) != 0 ? size : -size;
}

double with_error(double value, const Error& error, std::uint64_t bits) {
  if (!std::isfinite(value) || value == 0) return value;
  const double largest = std::max(
      {std::fabs(value) * error.relative, error.absolute, error.ulps * ulp_of_single(value)});
  return value + largest * 0.96 * noise(bits);  // room for the rounding that follows
}

/// flag: ftz. variant: 1 when it is approximate.
template <class Op>
void single(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<float>(code.d);
  const auto* a = warp.at<float>(code.a);
  const Settings& settings = warp.block().context().settings;
  const bool ftz = code.flag, disturbs = settings.approximate;
  for_lanes(lanes, [=, &settings](int i) {
    const float value = ftz ? flushed(a[i]) : a[i];
    double exact = Op::apply(static_cast<double>(value));
    bool errs = disturbs && value != 0;
    if constexpr (requires { Op::is_exact(0.0); }) errs = errs && !Op::is_exact(value);
    if (errs) exact = with_error(exact, Op::error, std::bit_cast<std::uint32_t>(value));
    const auto result = static_cast<float>(exact);
    d[i] = with_canonical_nan(ftz ? flushed(result) : result);
  });
}

/// IEEE reciprocals and roots. variant: the rounding; flag: ftz; flag2: a root.
template <class T>
void rounded(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T* a = warp.at<T>(code.a);
  const RoundingScope scope(static_cast<Rounding>(code.variant));
  const bool ftz = code.flag, root = code.flag2;
  for_lanes(lanes, [=](int i) {
    const T value = ftz ? flushed(a[i]) : a[i];
    const T result = root ? opaque_sqrt(value) : opaque_div(T{1}, value);
    d[i] = with_canonical_nan(ftz ? flushed(result) : result);
  });
}

/// rcp and rsqrt.approx.ftz.f64 look at the upper 32 bits of the operand and give the upper 32 bits
/// of the result.
template <class Op>
void upper_half(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<double>(code.d);
  const auto* a = warp.at<std::uint64_t>(code.a);
  for_lanes(lanes, [=](int i) {
    constexpr std::uint64_t upper = 0xffffffff00000000u;
    const std::uint64_t exponent = a[i] >> 52 & 0x7ff;
    std::uint64_t bits = a[i] & upper;
    if (exponent == 0) bits &= std::uint64_t{1} << 63;
    if (exponent == 0x7ff && (a[i] << 12) != 0) bits |= std::uint64_t{1} << 51;
    const double result = Op::apply(std::bit_cast<double>(bits));
    std::uint64_t out = std::bit_cast<std::uint64_t>(result);
    // To nearest, at the last bit that is kept.
    if (std::isfinite(result)) out += (std::uint64_t{1} << 31) - 1 + (out >> 32 & 1);
    out &= upper;
    if (std::isnan(result)) out = 0x7fffffff00000000u;
    if ((out >> 52 & 0x7ff) == 0) out &= std::uint64_t{1} << 63;
    d[i] = std::bit_cast<double>(out);
  });
}

void whole_rsqrt(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<double>(code.d);
  const auto* a = warp.at<double>(code.a);
  for_lanes(lanes, [=](int i) { d[i] = Rsqrt::apply(a[i]); });
}

/// flag: ftz; flag2: div.full, which scales so that large divisors work.
void approximate_div(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<float>(code.d);
  const auto *a = warp.at<float>(code.a), *b = warp.at<float>(code.b);
  const Settings& settings = warp.block().context().settings;
  const bool ftz = code.flag, full = code.flag2;
  for_lanes(lanes, [=, &settings](int i) {
    const float over = ftz ? flushed(a[i]) : a[i], under = ftz ? flushed(b[i]) : b[i];
    double exact = static_cast<double>(over) / static_cast<double>(under);
    // div.approx: for 2^126 < |b| < 2^128 the quotient is 0, or NaN for an infinite a.
    const float size = std::fabs(under);
    if (!full && size > 0x1p126f && std::isfinite(size))
      exact =
          std::isinf(over) ? std::numeric_limits<double>::quiet_NaN() : std::copysign(0.0, exact);
    if (settings.approximate)
      exact = with_error(exact, {.ulps = 2},
                         std::uint64_t{std::bit_cast<std::uint32_t>(over)} << 32 |
                             std::bit_cast<std::uint32_t>(under));
    const auto result = static_cast<float>(exact);
    d[i] = with_canonical_nan(ftz ? flushed(result) : result);
  });
}

/// Halves; variant counts the elements of a register, and the error is relative.
template <class Op, bool brain>
void halves(Warp& warp, const Code& code, Mask lanes) {
  const Settings& settings = warp.block().context().settings;
  const bool ftz = code.flag;
  const auto one = [&](std::uint16_t bits) {
    const double value = half_to_double<brain>(ftz ? flushed_half<brain>(bits) : bits);
    double exact = Op::apply(value);
    const double relative = brain ? 0x1p-7 : 0x1p-10;
    if (settings.approximate && value != 0) exact = with_error(exact, {relative, 0}, bits);
    return round_to_half<brain>(exact, Rounding::nearest);
  };
  if (code.variant == 1) {
    auto* d = warp.at<std::uint16_t>(code.d);
    const auto* a = warp.at<std::uint16_t>(code.a);
    return for_lanes(lanes, [=](int i) { d[i] = one(a[i]); });
  }
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto* a = warp.at<std::uint32_t>(code.a);
  for_lanes(lanes, [=](int i) {
    d[i] = static_cast<std::uint32_t>(one(static_cast<std::uint16_t>(a[i]))) |
           static_cast<std::uint32_t>(one(static_cast<std::uint16_t>(a[i] >> 16))) << 16;
  });
}

template <class Op>
void decode_single(Decoder& decoder) {
  decoder.expect("approx");
  decoder.code.flag = decoder.take("ftz");
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::f32) decoder.fail_type(type);
  take_operands(decoder, type, 1);
  decoder.emit(single<Op>);
}

/// ex2 and tanh, which know halves too.
template <class Op>
void decode_with_halves(Decoder& decoder) {
  decoder.expect("approx");
  const ptx::Type type = decoder.type();
  decoder.code.flag = decoder.take("ftz");
  take_operands(decoder, type, 1);
  decoder.code.variant = ptx::bytes_of(type) == 2 ? 1 : 2;
  switch (type) {
    case ptx::Type::f32:
      return decoder.emit(single<Op>);
    case ptx::Type::f16:
    case ptx::Type::f16x2:
      return decoder.emit(halves<Op, false>);
    case ptx::Type::bf16:
    case ptx::Type::bf16x2:
      return decoder.emit(halves<Op, true>);
    default:
      decoder.fail_type(type);
  }
}

template <class Op>
void decode_root(Decoder& decoder, bool root) {
  const auto rounding = decoder.rounding();
  if (!rounding) {
    decoder.expect("approx");
    decoder.code.flag = decoder.take("ftz");
    const ptx::Type type = decoder.type();
    take_operands(decoder, type, 1);
    if (type == ptx::Type::f32) return decoder.emit(single<Op>);
    if (type != ptx::Type::f64 || root || !decoder.code.flag) decoder.fail_type(type);
    return decoder.emit(upper_half<Op>);
  }
  decoder.code.variant = static_cast<unsigned char>(*rounding);
  decoder.code.flag2 = root;
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::f32 && type != ptx::Type::f64) decoder.fail_type(type);
  decoder.code.flag = type == ptx::Type::f32 && decoder.take("ftz");
  take_operands(decoder, type, 1);
  decoder.emit(type == ptx::Type::f32 ? rounded<float> : rounded<double>);
}

}  // namespace

void decode_approximate_div(Decoder& decoder, ptx::Type type) {
  if (type != ptx::Type::f32) decoder.fail_type(type);
  decoder.code.flag2 = decoder.take("full");
  if (!decoder.code.flag2) decoder.expect("approx");
  decoder.code.flag = decoder.take("ftz");
  take_operands(decoder, type, 2);
  decoder.emit(approximate_div);
}

namespace {

void decode_rsqrt(Decoder& decoder) {
  decoder.expect("approx");
  decoder.code.flag = decoder.take("ftz");
  const ptx::Type type = decoder.type();
  take_operands(decoder, type, 1);
  if (type == ptx::Type::f32) return decoder.emit(single<Rsqrt>);
  if (type != ptx::Type::f64) decoder.fail_type(type);
  // Without .ftz it is a whole function in software, not the upper half that the hardware gives.
  decoder.emit(decoder.code.flag ? upper_half<Rsqrt> : whole_rsqrt);
}

const Opcodes opcodes{{"rcp", [](Decoder& decoder) { decode_root<Rcp>(decoder, false); }},
                      {"sqrt", [](Decoder& decoder) { decode_root<Sqrt>(decoder, true); }},
                      {"rsqrt", decode_rsqrt},
                      {"sin", decode_single<Sin>},
                      {"cos", decode_single<Cos>},
                      {"lg2", decode_single<Lg2>},
                      {"ex2", decode_with_halves<Ex2>},
                      {"tanh", decode_with_halves<Tanh>}};

}  // namespace
}  // namespace emulator
