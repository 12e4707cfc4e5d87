#include <limits>
#include <optional>
#include <utility>

#include "emulator/machine/float_rules.h"
#include "emulator/machine/instructions/half_rules.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

// cvt. flag: ftz, which is about single precision on either side; flag2: sat; flag3: relu; variant:
// the rounding, of .rn and .rni alike.
namespace emulator {
namespace {

/// A value of 16 bits that is a number: bits with a type of their own.
template <bool brain>
struct HalfBits {
  std::uint16_t bits;
};

template <class T>
inline constexpr bool is_half = false;
template <bool brain>
inline constexpr bool is_half<HalfBits<brain>> = true;

/// Returns a number in double precision, in which single precision and halves are exact.
double widened(float value, bool ftz) { return static_cast<double>(ftz ? flushed(value) : value); }
double widened(double value, bool) { return value; }
template <bool brain>
double widened(HalfBits<brain> value, bool) {
  return half_to_double<brain>(value.bits);
}

double rounded_to_whole(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest:
      return std::nearbyint(value);
    case Rounding::zero:
      return std::trunc(value);
    case Rounding::down:
      return std::floor(value);
    case Rounding::up:
      return std::ceil(value);
  }
  return value;
}

/// Out of range: the nearest of the type. NaN: 0, but 1 << (n - 1) where one side has 64 bits (PTX
/// ISA, cvt).
template <class To, class From>
To float_to_integer(From from, Rounding rounding, bool ftz) {
  const double value = rounded_to_whole(widened(from, ftz), rounding);
  if (value != value) {
    if (sizeof(From) < 8 && sizeof(To) < 8) return 0;
    using Bits = std::make_unsigned_t<To>;
    return static_cast<To>(static_cast<Bits>(Bits{1} << (8 * sizeof(To) - 1)));
  }
  constexpr To least = std::numeric_limits<To>::min(), most = std::numeric_limits<To>::max();
  if (value <= static_cast<double>(least)) return least;
  // `most` rounds up to a power of two in double precision for 64 bits: at or above it, the result
  // is `most`.
  if (value >= static_cast<double>(most)) return most;
  return static_cast<To>(value);
}

/// 64-bit integers are converted by the host under the rounding mode in force.
template <class T, class To>
[[gnu::noipa]] To opaque_convert(T value) {
  return static_cast<To>(value);
}

template <class To, class From>
To to_float(From from, const Code& code) {
  const auto rounding = static_cast<Rounding>(code.variant);
  if constexpr (std::is_integral_v<From>) {
    if constexpr (is_half<To>) {
      // The largest finite halves lie far below 2^53, and larger numbers only have to stay large.
      return {round_to_half<std::is_same_v<To, HalfBits<true>>>(opaque_convert<From, double>(from),
                                                                rounding)};
    } else {
      const To result = opaque_convert<From, To>(from);
      return code.flag2 ? saturated_unit(result) : result;
    }
  } else {
    const double value = widened(from, code.flag);
    if constexpr (is_half<To>) {
      constexpr bool brain = std::is_same_v<To, HalfBits<true>>;
      std::uint16_t bits = round_to_half<brain>(value, rounding);
      if (code.flag2)
        bits = round_to_half<brain>(saturated_unit(half_to_double<brain>(bits)), Rounding::nearest);
      if (code.flag3 && (bits & 0x8000) != 0 && !is_half_nan<brain>(bits)) bits = 0;
      return {bits};
    } else if constexpr (std::is_same_v<To, float>) {
      float result = with_canonical_nan(opaque_narrow(value));
      if (code.flag) result = flushed(result);
      return code.flag2 ? saturated_unit(result) : result;
    } else {
      return code.flag2 ? saturated_unit(value) : value;
    }
  }
}

/// Whole numbers of a floating type (.rni and so on): count is 2 then.
template <class T>
T to_whole(T from, const Code& code) {
  const auto rounding = static_cast<Rounding>(code.variant);
  if constexpr (is_half<T>) {
    constexpr bool brain = std::is_same_v<T, HalfBits<true>>;
    return {round_to_half<brain>(rounded_to_whole(widened(from, code.flag), rounding),
                                 Rounding::nearest)};
  } else {
    T value = from;
    if constexpr (sizeof(T) == 4)
      if (code.flag) value = flushed(value);
    value =
        with_canonical_nan(static_cast<T>(rounded_to_whole(static_cast<double>(value), rounding)));
    return code.flag2 ? saturated_unit(value) : value;
  }
}

template <class To, class From>
To integer_to_integer(From from, bool saturates) {
  if (!saturates) return static_cast<To>(from);
  if (std::cmp_less(from, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater(from, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(from);
}

/// From reads the low bits of a register of FromRegister; the result is widened to a ToRegister,
/// signed where To is.
template <class To, class ToRegister, class From, class FromRegister>
void convert(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<ToRegister>(code.d);
  const auto* a = warp.at<FromRegister>(code.a);
  constexpr bool from_float = is_half<From> || std::is_floating_point_v<From>;
  constexpr bool to_floats = is_half<To> || std::is_floating_point_v<To>;
  const bool by_mode = to_floats && !is_half<To> && code.count == 1;
  const RoundingScope scope(by_mode ? static_cast<Rounding>(code.variant) : Rounding::nearest);
  for_lanes(lanes, [&](int i) {
    From from;
    if constexpr (std::is_integral_v<From>)
      from = static_cast<From>(a[i]);
    else
      __builtin_memcpy(&from, &a[i], sizeof from);
    To to;
    if constexpr (!to_floats && !from_float) {
      to = integer_to_integer<To>(from, code.flag2);
    } else if constexpr (!to_floats) {
      to = float_to_integer<To>(from, static_cast<Rounding>(code.variant), code.flag);
    } else {
      if constexpr (std::is_same_v<To, From>) {
        to = code.count == 2 ? to_whole(from, code) : to_float<To>(from, code);
      } else {
        to = to_float<To>(from, code);
      }
    }
    if constexpr (std::is_integral_v<To>) {
      d[i] = static_cast<ToRegister>(to);
    } else {
      ToRegister wide = 0;
      __builtin_memcpy(&wide, &to, sizeof to);
      d[i] = wide;
    }
  });
}

template <class To, class ToRegister, class From>
Code::Run pick_source_register(std::size_t bytes) {
  switch (bytes) {
    case 1:
      if constexpr (sizeof(From) <= 1) return convert<To, ToRegister, From, std::uint8_t>;
      break;
    case 2:
      if constexpr (sizeof(From) <= 2) return convert<To, ToRegister, From, std::uint16_t>;
      break;
    case 4:
      if constexpr (sizeof(From) <= 4) return convert<To, ToRegister, From, std::uint32_t>;
      break;
    case 8:
      return convert<To, ToRegister, From, std::uint64_t>;
    default:
      break;
  }
  return nullptr;
}

template <class To, class From>
Code::Run pick_registers(std::size_t to_bytes, std::size_t from_bytes) {
  switch (to_bytes) {
    case 1:
      if constexpr (sizeof(To) <= 1)
        return pick_source_register<To, std::uint8_t, From>(from_bytes);
      break;
    case 2:
      if constexpr (sizeof(To) <= 2)
        return pick_source_register<To, std::uint16_t, From>(from_bytes);
      break;
    case 4:
      if constexpr (sizeof(To) <= 4)
        return pick_source_register<To, std::uint32_t, From>(from_bytes);
      break;
    case 8:
      return pick_source_register<To, std::uint64_t, From>(from_bytes);
    default:
      break;
  }
  return nullptr;
}

template <class F>
Code::Run pick_convertible(const Decoder& decoder, ptx::Type type, F f) {
  switch (type) {
    case ptx::Type::u8:
      return f.template operator()<std::uint8_t>();
    case ptx::Type::s8:
      return f.template operator()<std::int8_t>();
    case ptx::Type::f16:
      return f.template operator()<HalfBits<false>>();
    case ptx::Type::bf16:
      return f.template operator()<HalfBits<true>>();
    case ptx::Type::f32:
      return f.template operator()<float>();
    case ptx::Type::f64:
      return f.template operator()<double>();
    default:
      return pick_integer(decoder, type, f);
  }
}

/// The width of a register; immediates are as wide as their type.
std::size_t register_bytes(const Decoder& decoder, const ptx::Operand& operand, ptx::Type type) {
  if (!decoder.is_register(operand)) return ptx::bytes_of(type);
  const std::size_t bytes = ptx::bytes_of(decoder.register_type(operand));
  if (bytes < ptx::bytes_of(type)) decoder.fail("a register is narrower than its type");
  return bytes;
}

ptx::Type type_of_width(std::size_t bytes) {
  return bytes == 1   ? ptx::Type::b8
         : bytes == 2 ? ptx::Type::b16
         : bytes == 4 ? ptx::Type::b32
                      : ptx::Type::b64;
}

std::optional<Rounding> whole_rounding(Decoder& decoder) {
  if (decoder.take("rni")) return Rounding::nearest;
  if (decoder.take("rzi")) return Rounding::zero;
  if (decoder.take("rmi")) return Rounding::down;
  if (decoder.take("rpi")) return Rounding::up;
  return std::nullopt;
}

/// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half.
template <bool brain>
void convert_two(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<float>(code.a), *b = warp.at<float>(code.b);
  for_lanes(lanes, [&](int i) {
    const std::uint32_t high = to_float<HalfBits<brain>>(a[i], code).bits,
                        low = to_float<HalfBits<brain>>(b[i], code).bits;
    d[i] = high << 16 | low;
  });
}

/// cvt.pack: two s32 saturated to 16 or 8 bits; with c, the result of 8 bits goes below c shifted
/// up.
template <class To>
void convert_packed(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<std::int32_t>(code.a), *b = warp.at<std::int32_t>(code.b);
  const auto* c = code.flag ? warp.at<std::uint32_t>(code.c) : nullptr;
  for_lanes(lanes, [=](int i) {
    constexpr std::uint32_t bits = 8 * sizeof(To);
    constexpr std::uint32_t mask = (1u << bits) - 1;
    const std::uint32_t high =
        static_cast<std::uint32_t>(integer_to_integer<To>(a[i], true)) & mask;
    const std::uint32_t low = static_cast<std::uint32_t>(integer_to_integer<To>(b[i], true)) & mask;
    d[i] = high << bits | low;
    if (c != nullptr && bits == 8) d[i] |= c[i] << 16;
  });
}

void decode_packed(Decoder& decoder) {
  decoder.expect("sat");
  const ptx::Type to = decoder.type(), from = decoder.type();
  if (from != ptx::Type::s32) decoder.fail_type(from);
  const bool third = decoder.maybe_type().has_value();
  decoder.expect_operands(third ? 4 : 3);
  decoder.code.d = decoder.destination(0, ptx::Type::b32);
  decoder.code.a = decoder.source(1, from);
  decoder.code.b = decoder.source(2, from);
  decoder.code.flag = third;
  if (third) decoder.code.c = decoder.source(3, ptx::Type::b32);
  switch (to) {
    case ptx::Type::u16:
      return decoder.emit(convert_packed<std::uint16_t>);
    case ptx::Type::s16:
      return decoder.emit(convert_packed<std::int16_t>);
    case ptx::Type::u8:
      return decoder.emit(convert_packed<std::uint8_t>);
    case ptx::Type::s8:
      return decoder.emit(convert_packed<std::int8_t>);
    default:
      decoder.fail_type(to);
  }
}

void decode_cvt(Decoder& decoder) {
  if (decoder.take("pack")) return decode_packed(decoder);
  if (decoder.take("tf32")) return decode_cvt_tf32(decoder);
  if (decode_cvt_f8(decoder)) return;
  const auto whole = whole_rounding(decoder);
  const auto rounding = decoder.rounding();
  decoder.code.variant =
      static_cast<unsigned char>(whole.value_or(rounding.value_or(Rounding::nearest)));
  decoder.code.flag = decoder.take("ftz");
  decoder.code.flag2 = decoder.take("sat");
  decoder.code.flag3 = decoder.take("relu");
  decoder.code.count = whole ? 2 : 1;
  const ptx::Type to = decoder.type(), from = decoder.type();
  if (to == ptx::Type::f16x2 || to == ptx::Type::bf16x2) {
    if (from != ptx::Type::f32 || !rounding) decoder.fail_type(from);
    decoder.expect_operands(3);
    decoder.code.d = decoder.destination(0, to);
    decoder.code.a = decoder.source(1, from);
    decoder.code.b = decoder.source(2, from);
    return decoder.emit(to == ptx::Type::f16x2 ? convert_two<false> : convert_two<true>);
  }
  decoder.expect_operands(2);
  const bool to_float_type = ptx::is_float(to), from_float_type = ptx::is_float(from);
  if (from_float_type && !to_float_type && !whole)
    decoder.fail("a rounding to whole numbers is missing");
  const bool narrows = to_float_type && from_float_type && ptx::bytes_of(to) < ptx::bytes_of(from);
  if (((!from_float_type && to_float_type) || narrows) && !rounding)
    decoder.fail("a rounding is missing");
  const std::size_t to_bytes = register_bytes(decoder, decoder.operand(0), to);
  const std::size_t from_bytes = register_bytes(decoder, decoder.operand(1), from);
  decoder.code.d = decoder.destination(0, type_of_width(to_bytes));
  decoder.code.a =
      decoder.source(1, decoder.is_register(decoder.operand(1)) ? type_of_width(from_bytes) : from);
  decoder.emit(pick_convertible(decoder, to, [&]<class To>() {
    return pick_convertible(decoder, from, [&]<class From>() {
      return pick_registers<To, From>(to_bytes, from_bytes);
    });
  }));
}

const Opcodes opcodes{{"cvt", decode_cvt}};

}  // namespace
}  // namespace emulator
