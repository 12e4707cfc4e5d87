#include <limits>

#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

template <std::size_t bytes>
struct Wider;
template <>
struct Wider<2> {
  using Signed = std::int32_t;
  using Unsigned = std::uint32_t;
};
template <>
struct Wider<4> {
  using Signed = std::int64_t;
  using Unsigned = std::uint64_t;
};
template <>
struct Wider<8> {
  using Signed = Int128;
  using Unsigned = Uint128;
};
/// Wide enough for the product of two T.
template <class T>
using Twice = std::conditional_t<std::is_signed_v<T>, typename Wider<sizeof(T)>::Signed,
                                 typename Wider<sizeof(T)>::Unsigned>;

/// Arithmetic modulo 2^n: `int` promotion and signed overflow kept out.
template <class T>
using Modulo = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
Modulo<T> modulo(T value) {
  return static_cast<Modulo<T>>(value);
}

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(modulo(a) + modulo(b));
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(modulo(a) - modulo(b));
  }
};
std::int32_t saturated(std::int64_t value) {
  if (value > std::numeric_limits<std::int32_t>::max())
    return std::numeric_limits<std::int32_t>::max();
  if (value < std::numeric_limits<std::int32_t>::min())
    return std::numeric_limits<std::int32_t>::min();
  return static_cast<std::int32_t>(value);
}
struct AddSaturated {
  static std::int32_t apply(std::int32_t a, std::int32_t b) {
    return saturated(std::int64_t{a} + b);
  }
};
struct SubSaturated {
  static std::int32_t apply(std::int32_t a, std::int32_t b) {
    return saturated(std::int64_t{a} - b);
  }
};
struct MulLow {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(modulo(a) * modulo(b));
  }
};
template <class T>
T high(Twice<T> product) {
  return static_cast<T>(product >> (8 * sizeof(T)));
}
struct MulHigh {
  template <class T>
  static T apply(T a, T b) {
    return high<T>(static_cast<Twice<T>>(a) * b);
  }
};
struct MadLow {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulLow::apply(a, b), c);
  }
};
struct MadHigh {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulHigh::apply(a, b), c);
  }
};
struct MadHighSaturated {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    return saturated(std::int64_t{MulHigh::apply(a, b)} + c);
  }
};
/// A division by zero "yields an unspecified, machine-specific value"; all ones is what GPUs are
/// seen to give.
struct Div {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return Sub::apply(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct Neg {
  template <class T>
  static T apply(T a) {
    return Sub::apply(T{0}, a);
  }
};
struct Abs {
  template <class T>
  static T apply(T a) {
    return a < 0 ? Neg::apply(a) : a;
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct Sad {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(c, a < b ? Sub::apply(b, a) : Sub::apply(a, b));
  }
};

template <class T>
void mul_wide(Warp& warp, const Code& code, Mask lanes) {
  Twice<T>* d = warp.at<Twice<T>>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b);
  for_lanes(lanes,
            [=](int i) { d[i] = static_cast<Twice<T>>(a[i]) * static_cast<Twice<T>>(b[i]); });
}

template <class T>
void mad_wide(Warp& warp, const Code& code, Mask lanes) {
  Twice<T>* d = warp.at<Twice<T>>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b);
  const Twice<T>* c = warp.at<Twice<T>>(code.c);
  for_lanes(lanes, [=](int i) {
    d[i] = Add::apply(
        static_cast<Twice<T>>(static_cast<Twice<T>>(a[i]) * static_cast<Twice<T>>(b[i])), c[i]);
  });
}

ptx::Type wide_type(const Decoder& decoder, ptx::Type type) {
  switch (type) {
    case ptx::Type::u16:
      return ptx::Type::u32;
    case ptx::Type::s16:
      return ptx::Type::s32;
    case ptx::Type::u32:
      return ptx::Type::u64;
    case ptx::Type::s32:
      return ptx::Type::s64;
    default:
      decoder.fail_type(type);
  }
}

template <class F>
Code::Run pick_narrow(const Decoder& decoder, ptx::Type type, F f) {
  switch (type) {
    case ptx::Type::u16:
      return f.template operator()<std::uint16_t>();
    case ptx::Type::u32:
      return f.template operator()<std::uint32_t>();
    case ptx::Type::s16:
      return f.template operator()<std::int16_t>();
    case ptx::Type::s32:
      return f.template operator()<std::int32_t>();
    default:
      decoder.fail_type(type);
  }
}

/// Sums with a carry: f is the place of the condition code, `flag` reads it, `flag2` writes it,
/// `flag3` subtracts. `c` is what is added to; with `product` it is added to the half `variant` (0:
/// none, 1: low, 2: high) of a * b.
template <class T>
void carrying(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b);
  const T* c = code.variant == 0 ? nullptr : warp.at<T>(code.c);
  Mask& carry = warp.predicate(code.f);
  for_lanes(lanes, [&](int i) {
    T left = a[i], right = b[i];
    if (code.variant != 0) {
      left = code.variant == 1 ? MulLow::apply(a[i], b[i]) : MulHigh::apply(a[i], b[i]);
      right = c[i];
    }
    using Bits = std::make_unsigned_t<T>;
    using Wide = Twice<Bits>;
    const Wide in = code.flag && has_lane(carry, i) ? 1 : 0;
    // A subtraction's condition code is its borrow.
    const Wide result = code.flag3 ? static_cast<Wide>(static_cast<Wide>(static_cast<Bits>(left)) -
                                                       static_cast<Bits>(right) - in)
                                   : static_cast<Wide>(static_cast<Wide>(static_cast<Bits>(left)) +
                                                       static_cast<Bits>(right) + in);
    d[i] = static_cast<T>(result);
    if (!code.flag2) return;
    const bool out = (result >> (8 * sizeof(T)) & 1) != 0;
    carry = out ? carry | Mask{1} << i : carry & ~(Mask{1} << i);
  });
}

void decode_carrying(Decoder& decoder, ptx::Type type, bool in, bool subtracts,
                     unsigned char product) {
  take_operands(decoder, type, product == 0 ? 2 : 3);
  decoder.code.f = decoder.layout().carry();
  decoder.code.flag = in;
  decoder.code.flag2 = decoder.take("cc");
  decoder.code.flag3 = subtracts;
  decoder.code.variant = product;
  switch (type) {
    case ptx::Type::u32:
      return decoder.emit(carrying<std::uint32_t>);
    case ptx::Type::s32:
      return decoder.emit(carrying<std::int32_t>);
    case ptx::Type::u64:
      return decoder.emit(carrying<std::uint64_t>);
    case ptx::Type::s64:
      return decoder.emit(carrying<std::int64_t>);
    default:
      decoder.fail_type(type);
  }
}

bool sets_carry(const Decoder& decoder) {
  for (const std::string_view modifier : decoder.instruction().modifiers)
    if (modifier == "cc") return true;
  return false;
}

template <class Op>
void decode_binary(Decoder& decoder, ptx::Type type) {
  take_operands(decoder, type, 2);
  decoder.emit(pick_integer(decoder, type, []<class T>() -> Code::Run { return binary<T, Op>; }));
}

/// 24 bits of each factor, as an n-bit product of 48 bits.
template <class T>
std::int64_t product24(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    const auto low = [](T value) {
      return static_cast<std::int64_t>(
          static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << 8) >> 8);
    };
    return low(a) * low(b);
  } else {
    return static_cast<std::int64_t>(std::uint64_t{a & 0xffffffu} * std::uint64_t{b & 0xffffffu});
  }
}

template <class T, bool add>
void run24(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b), *c = add ? warp.at<T>(code.c) : nullptr;
  const int shift = code.variant;
  for_lanes(lanes, [=](int i) {
    T value = static_cast<T>(product24(a[i], b[i]) >> shift);
    if constexpr (add) value = Add::apply(value, c[i]);
    d[i] = value;
  });
}

template <bool add>
void decode24(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (decoder.take("hi"))
    decoder.code.variant = 16;
  else
    decoder.expect("lo");
  take_operands(decoder, type, add ? 3 : 2);
  if (type == ptx::Type::u32) return decoder.emit(run24<std::uint32_t, add>);
  if (type == ptx::Type::s32) return decoder.emit(run24<std::int32_t, add>);
  decoder.fail_type(type);
}

/// Byte (or half-word) `index` of a word as A says.
template <class A>
std::int32_t part(std::uint32_t word, int index) {
  return static_cast<A>(word >> (index * 8 * static_cast<int>(sizeof(A))));
}

template <class A, class B, int products>
void dot(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b),
             *c = warp.at<std::uint32_t>(code.c);
  const int first = code.variant;  // dp2a.hi begins at byte 2 of b
  for_lanes(lanes, [=](int i) {
    std::uint32_t sum = c[i];
    for (int k = 0; k < products; ++k)
      sum += static_cast<std::uint32_t>(part<A>(a[i], k)) *
             static_cast<std::uint32_t>(part<B>(b[i], first + k));
    d[i] = sum;
  });
}

/// The two types are those of a and b; take_operands needs only their 32 bits.
template <class U, class S, int products>
void decode_dot(Decoder& decoder) {
  const ptx::Type a = decoder.type(), b = decoder.type();
  if (ptx::bytes_of(a) != 4 || !ptx::is_integer(a)) decoder.fail_type(a);
  if (ptx::bytes_of(b) != 4 || !ptx::is_integer(b)) decoder.fail_type(b);
  take_operands(decoder, a, 3);
  const bool first = ptx::is_signed(a), second = ptx::is_signed(b);
  if (first)
    return decoder.emit(second ? dot<S, std::int8_t, products> : dot<S, std::uint8_t, products>);
  decoder.emit(second ? dot<U, std::int8_t, products> : dot<U, std::uint8_t, products>);
}

}  // namespace

void decode_integer_add(Decoder& decoder, ptx::Type type) {
  if (sets_carry(decoder)) return decode_carrying(decoder, type, false, false, 0);
  if (!decoder.take("sat")) return decode_binary<Add>(decoder, type);
  if (type != ptx::Type::s32) decoder.fail_type(type);
  take_operands(decoder, type, 2);
  decoder.emit(binary<std::int32_t, AddSaturated>);
}

void decode_integer_sub(Decoder& decoder, ptx::Type type) {
  if (sets_carry(decoder)) return decode_carrying(decoder, type, false, true, 0);
  if (!decoder.take("sat")) return decode_binary<Sub>(decoder, type);
  if (type != ptx::Type::s32) decoder.fail_type(type);
  take_operands(decoder, type, 2);
  decoder.emit(binary<std::int32_t, SubSaturated>);
}

void decode_integer_mul(Decoder& decoder, ptx::Type type) {
  if (decoder.take("wide")) {
    decoder.expect_operands(3);
    decoder.code.d = decoder.destination(0, wide_type(decoder, type));
    decoder.code.a = decoder.source(1, type);
    decoder.code.b = decoder.source(2, type);
    return decoder.emit(
        pick_narrow(decoder, type, []<class T>() -> Code::Run { return mul_wide<T>; }));
  }
  if (decoder.take("hi")) return decode_binary<MulHigh>(decoder, type);
  decoder.expect("lo");
  decode_binary<MulLow>(decoder, type);
}

void decode_integer_mad(Decoder& decoder, ptx::Type type) {
  if (decoder.take("wide")) {
    decoder.expect_operands(4);
    decoder.code.d = decoder.destination(0, wide_type(decoder, type));
    decoder.code.a = decoder.source(1, type);
    decoder.code.b = decoder.source(2, type);
    decoder.code.c = decoder.source(3, wide_type(decoder, type));
    return decoder.emit(
        pick_narrow(decoder, type, []<class T>() -> Code::Run { return mad_wide<T>; }));
  }
  const bool is_high = decoder.take("hi");
  if (!is_high) decoder.expect("lo");
  if (sets_carry(decoder)) return decode_carrying(decoder, type, false, false, is_high ? 2 : 1);
  const bool saturates = decoder.take("sat");
  take_operands(decoder, type, 3);
  if (saturates) {
    if (!is_high || type != ptx::Type::s32) decoder.fail_type(type);
    return decoder.emit(ternary<std::int32_t, MadHighSaturated>);
  }
  decoder.emit(
      is_high
          ? pick_integer(decoder, type, []<class T>() -> Code::Run { return ternary<T, MadHigh>; })
          : pick_integer(decoder, type, []<class T>() -> Code::Run { return ternary<T, MadLow>; }));
}

void decode_integer_div(Decoder& decoder, ptx::Type type) { decode_binary<Div>(decoder, type); }
void decode_integer_min(Decoder& decoder, ptx::Type type) { decode_binary<Min>(decoder, type); }
void decode_integer_max(Decoder& decoder, ptx::Type type) { decode_binary<Max>(decoder, type); }

void decode_integer_abs(Decoder& decoder, ptx::Type type) {
  if (!ptx::is_signed(type)) decoder.fail_type(type);
  take_operands(decoder, type, 1);
  decoder.emit(
      pick_integer(decoder, type, []<class T>() -> Code::Run { return unary<T, T, Abs>; }));
}

void decode_integer_neg(Decoder& decoder, ptx::Type type) {
  if (!ptx::is_signed(type)) decoder.fail_type(type);
  take_operands(decoder, type, 1);
  decoder.emit(
      pick_integer(decoder, type, []<class T>() -> Code::Run { return unary<T, T, Neg>; }));
}

namespace {

void decode_madc(Decoder& decoder) {
  const bool is_high = decoder.take("hi");
  if (!is_high) decoder.expect("lo");
  decode_carrying(decoder, decoder.type(), true, false, is_high ? 2 : 1);
}

void decode_sad(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  take_operands(decoder, type, 3);
  decoder.emit(pick_integer(decoder, type, []<class T>() -> Code::Run { return ternary<T, Sad>; }));
}

void decode_dp2a(Decoder& decoder) {
  if (decoder.take("hi"))
    decoder.code.variant = 2;
  else
    decoder.expect("lo");
  decode_dot<std::uint16_t, std::int16_t, 2>(decoder);
}

const Opcodes opcodes{
    {"addc", [](Decoder& decoder) { decode_carrying(decoder, decoder.type(), true, false, 0); }},
    {"subc", [](Decoder& decoder) { decode_carrying(decoder, decoder.type(), true, true, 0); }},
    {"madc", decode_madc},
    {"rem", [](Decoder& decoder) { decode_binary<Rem>(decoder, decoder.type()); }},
    {"sad", decode_sad},
    {"mul24", decode24<false>},
    {"mad24", decode24<true>},
    {"dp4a", decode_dot<std::uint8_t, std::int8_t, 4>},
    {"dp2a", decode_dp2a}};

}  // namespace
}  // namespace emulator
