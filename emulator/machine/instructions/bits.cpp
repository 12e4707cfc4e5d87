#include <bit>

#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  static T apply(T a) {
    return a == 0;
  }
};
struct Popc {
  template <class T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct Clz {
  template <class T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Brev {
  template <class T>
  static T apply(T a) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      result = static_cast<T>(result << 1 | (a >> i & 1));
    return result;
  }
};
struct Bfind {
  template <class T>
  static std::uint32_t apply(T a) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
    return static_cast<std::uint32_t>(static_cast<int>(8 * sizeof(T)) - 1 - std::countl_zero(bits));
  }
};
struct BfindShift {
  template <class T>
  static std::uint32_t apply(T a) {
    const std::uint32_t found = Bfind::apply(a);
    return found == ~0u ? found : static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - found;
  }
};

template <class Op>
void predicates(Warp& warp, const Code& code, Mask lanes) {
  const Mask result = Op::apply(warp.predicate(code.a), warp.predicate(code.b));
  Mask& d = warp.predicate(code.d);
  d = (d & ~lanes) | (result & lanes);
}

void not_predicate(Warp& warp, const Code& code, Mask lanes) {
  const Mask result = ~warp.predicate(code.a);
  Mask& d = warp.predicate(code.d);
  d = (d & ~lanes) | (result & lanes);
}

ptx::Type bits_type(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (!ptx::is_bits(type) && type != ptx::Type::pred) decoder.fail_type(type);
  return type;
}

template <class Op>
void decode_logic(Decoder& decoder) {
  const ptx::Type type = bits_type(decoder);
  take_operands(decoder, type, 2);
  if (type == ptx::Type::pred) return decoder.emit(predicates<Op>);
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return binary<T, Op>; }));
}

std::uint32_t lookup3(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned table) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i)
    if ((table >> i & 1) != 0) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}

void lop3(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b),
             *c = warp.at<std::uint32_t>(code.c);
  const unsigned table = code.variant;
  for_lanes(lanes, [=](int i) { d[i] = lookup3(a[i], b[i], c[i], table); });
}

/// lop3 with a predicate: `e` is (d != 0) combined with the predicate `f`, which `flag3` negates.
/// `flag`: and, else or.
void lop3_predicate(Warp& warp, const Code& code, Mask lanes) {
  Mask other = warp.predicate(code.f);
  if (code.flag3) other = ~other;
  lop3(warp, code, lanes);
  const auto* d = warp.at<std::uint32_t>(code.d);
  Mask nonzero = 0;
  for_lanes(lanes, [&](int i) { nonzero |= d[i] != 0 ? Mask{1} << i : 0; });
  const Mask result = code.flag ? nonzero & other : nonzero | other;
  Mask& e = warp.predicate(code.e);
  e = (e & ~lanes) | (result & lanes);
}

/// Shifts by more than the width give 0, or the sign.
template <class T>
struct Left {
  static T apply(T a, std::uint32_t by) {
    return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << by);
  }
};
template <class T>
struct Right {
  static T apply(T a, std::uint32_t by) {
    constexpr std::uint32_t width = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (by >= width ? width - 1 : by));
    return by >= width ? T{0} : static_cast<T>(a >> by);
  }
};

template <class T, class Op>
void shift(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T* a = warp.at<T>(code.a);
  const auto* by = warp.at<std::uint32_t>(code.b);
  for_lanes(lanes, [=](int i) { d[i] = Op::apply(a[i], by[i]); });
}

void take_shift_operands(Decoder& decoder, ptx::Type type) {
  decoder.expect_operands(3);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.source(1, type);
  decoder.code.b = decoder.source(2, ptx::Type::u32);
}

/// variant: bit 0 right, bit 1 clamp.
void funnel(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b),
             *c = warp.at<std::uint32_t>(code.c);
  const bool right = (code.variant & 1) != 0, clamp = (code.variant & 2) != 0;
  for_lanes(lanes, [=](int i) {
    const std::uint32_t by = clamp ? (c[i] > 32 ? 32 : c[i]) : c[i] & 31;
    const std::uint64_t both = std::uint64_t{b[i]} << 32 | a[i];
    d[i] = static_cast<std::uint32_t>(right ? both >> by : (both << by) >> 32);
  });
}

template <class T>
void extract(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T* a = warp.at<T>(code.a);
  const auto *b = warp.at<std::uint32_t>(code.b), *c = warp.at<std::uint32_t>(code.c);
  for_lanes(lanes, [=](int i) {
    constexpr std::uint32_t width = 8 * sizeof(T);
    using Bits = std::make_unsigned_t<T>;
    const std::uint32_t position = b[i] & 0xff, length = c[i] & 0xff;
    const Bits bits =
        position >= width ? Bits{0} : static_cast<Bits>(static_cast<Bits>(a[i]) >> position);
    const Bits mask = length >= width ? ~Bits{0} : static_cast<Bits>((Bits{1} << length) - 1);
    bool sign = false;
    if constexpr (std::is_signed_v<T>)
      if (length != 0) {
        const std::uint32_t last = position + length - 1;
        sign = (static_cast<Bits>(a[i]) >> (last >= width ? width - 1 : last) & 1) != 0;
      }
    // Bits past the end of the field, and those that it takes from past the end of a, are the sign.
    const std::uint32_t real = position >= width ? 0 : width - position;
    const Bits present = real >= width ? mask : static_cast<Bits>(mask & ((Bits{1} << real) - 1));
    d[i] = static_cast<T>((bits & present) | (sign ? static_cast<Bits>(~present) : Bits{0}));
  });
}

template <class T>
void insert(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b);
  const auto *c = warp.at<std::uint32_t>(code.c), *length_of = warp.at<std::uint32_t>(code.f);
  for_lanes(lanes, [=](int i) {
    constexpr std::uint32_t width = 8 * sizeof(T);
    const std::uint32_t position = c[i] & 0xff, length = length_of[i] & 0xff;
    const T mask = length >= width ? ~T{0} : static_cast<T>((T{1} << length) - 1);
    const T field = position >= width ? T{0} : static_cast<T>(mask << position);
    const T value = position >= width ? T{0} : static_cast<T>(a[i] << position);
    d[i] = static_cast<T>((b[i] & ~field) | (value & field));
  });
}

/// Ones from bit a on, b of them; `flag`: wrap instead of clamp.
void bit_mask(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b);
  const bool wrap = code.flag;
  for_lanes(lanes, [=](int i) {
    const std::uint32_t position = wrap ? a[i] & 31 : a[i], length = wrap ? b[i] & 31 : b[i];
    const std::uint64_t ones = length >= 32 ? 0xffffffffu : (std::uint64_t{1} << length) - 1;
    d[i] = position >= 32 ? 0 : static_cast<std::uint32_t>(ones << position);
  });
}

template <class T>
void sign_extend(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T* a = warp.at<T>(code.a);
  const auto* b = warp.at<std::uint32_t>(code.b);
  const bool wrap = code.flag;
  for_lanes(lanes, [=](int i) {
    const std::uint32_t bits = wrap ? b[i] & 31 : b[i];
    const auto value = static_cast<std::uint32_t>(a[i]);
    if (bits >= 32) {
      d[i] = a[i];
    } else if (bits == 0) {
      d[i] = 0;
    } else {
      const std::uint32_t shifted = value << (32 - bits);
      d[i] = std::is_signed_v<T> ? static_cast<T>(static_cast<std::int32_t>(shifted) >> (32 - bits))
                                 : static_cast<T>(shifted >> (32 - bits));
    }
  });
}

/// The bit set that is `offset` set bits away from `base`, counted in its direction; 0 is base
/// itself or the next one.
std::uint32_t find_nth(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  constexpr std::uint32_t none = 0xffffffffu;
  if (offset == 0) return base < 32 && (mask >> base & 1) != 0 ? base : none;
  const int step = offset > 0 ? 1 : -1;
  std::int32_t left = offset > 0 ? offset : -offset;
  for (auto at = static_cast<std::int64_t>(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) != 0 && --left == 0) return static_cast<std::uint32_t>(at);
  return none;
}

void fns(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b);
  const auto* c = warp.at<std::int32_t>(code.c);
  for_lanes(lanes, [=](int i) { d[i] = find_nth(a[i], b[i], c[i]); });
}

enum Permute : unsigned char { generic_mode, f4e, b4e, rc8, ecl, ecr, rc16 };

/// The selector of four nibbles that a mode stands for (PTX ISA, prmt).
std::uint32_t selector(unsigned char mode, std::uint32_t c) {
  const std::uint32_t n = c & 3;
  switch (mode) {
    case f4e:
      return (n) | (n + 1) << 4 | (n + 2) << 8 | (n + 3) << 12;
    case b4e:
      return (n) | ((n + 7) & 7) << 4 | ((n + 6) & 7) << 8 | ((n + 5) & 7) << 12;
    case rc8:
      return n * 0x1111;
    case ecl: {
      std::uint32_t result = 0;
      for (std::uint32_t i = 0; i < 4; ++i) result |= (i > n ? i : n) << (4 * i);
      return result;
    }
    case ecr: {
      std::uint32_t result = 0;
      for (std::uint32_t i = 0; i < 4; ++i) result |= (i < n ? i : n) << (4 * i);
      return result;
    }
    case rc16:
      return (n & 1) != 0 ? 0x3232 : 0x1010;
    default:
      return c & 0xffff;
  }
}

void permute(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b),
             *c = warp.at<std::uint32_t>(code.c);
  const unsigned char mode = code.variant;
  for_lanes(lanes, [=](int i) {
    const std::uint64_t both = std::uint64_t{b[i]} << 32 | a[i];
    const std::uint32_t select = selector(mode, c[i]);
    std::uint32_t result = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const std::uint32_t nibble = select >> (4 * byte) & 0xf;
      auto value = static_cast<std::uint32_t>(both >> (8 * (nibble & 7)) & 0xff);
      if ((nibble & 8) != 0) value = (value & 0x80) != 0 ? 0xff : 0;
      result |= value << (8 * byte);
    }
    d[i] = result;
  });
}

template <class Op>
void decode_count(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::b32 && type != ptx::Type::b64) decoder.fail_type(type);
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, ptx::Type::u32);
  decoder.code.a = decoder.source(1, type);
  decoder.emit(
      pick_bits(decoder, type, []<class T>() -> Code::Run { return unary<std::uint32_t, T, Op>; }));
}

void take_wrap_or_clamp(Decoder& decoder) {
  decoder.code.flag = decoder.take("wrap");
  if (!decoder.code.flag) decoder.expect("clamp");
}

void decode_not(Decoder& decoder) {
  const ptx::Type type = bits_type(decoder);
  take_operands(decoder, type, 1);
  if (type == ptx::Type::pred) return decoder.emit(not_predicate);
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return unary<T, T, Not>; }));
}

void decode_cnot(Decoder& decoder) {
  const ptx::Type type = bits_type(decoder);
  if (type == ptx::Type::pred) decoder.fail_type(type);
  take_operands(decoder, type, 1);
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return unary<T, T, Cnot>; }));
}

void decode_lop3(Decoder& decoder) {
  const bool with_and = decoder.take("and"), with_or = decoder.take("or");
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::b32) decoder.fail_type(type);
  decoder.expect_operands(with_and || with_or ? 6 : 5);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.source(1, type);
  decoder.code.b = decoder.source(2, type);
  decoder.code.c = decoder.source(3, type);
  const ptx::Operand& table = decoder.operand(4);
  if (table.kind != ptx::OperandKind::integer || table.bits > 255)
    decoder.fail("the table is a number of 8 bits");
  decoder.code.variant = static_cast<unsigned char>(table.bits);
  if (!with_and && !with_or) return decoder.emit(lop3);
  decoder.code.e = decoder.second_destination(0);
  decoder.code.f = decoder.predicate(5, decoder.code.flag3);
  decoder.code.flag = with_and;
  decoder.emit(lop3_predicate);
}

void decode_shl(Decoder& decoder) {
  const ptx::Type type = bits_type(decoder);
  take_shift_operands(decoder, type);
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return shift<T, Left<T>>; }));
}

void decode_shr(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  take_shift_operands(decoder, type);
  if (ptx::is_signed(type))
    return decoder.emit(
        pick_integer(decoder, type, []<class T>() -> Code::Run { return shift<T, Right<T>>; }));
  if (ptx::is_float(type) || type == ptx::Type::pred) decoder.fail_type(type);
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return shift<T, Right<T>>; }));
}

void decode_shf(Decoder& decoder) {
  const bool right = decoder.take("r");
  if (!right) decoder.expect("l");
  const bool clamp = decoder.take("clamp");
  if (!clamp) decoder.expect("wrap");
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::b32) decoder.fail_type(type);
  take_operands(decoder, type, 3);
  decoder.code.variant = static_cast<unsigned char>((right ? 1 : 0) | (clamp ? 2 : 0));
  decoder.emit(funnel);
}

void decode_bfind(Decoder& decoder) {
  const bool shift_amount = decoder.take("shiftamt");
  const ptx::Type type = decoder.type();
  if (ptx::bytes_of(type) < 4) decoder.fail_type(type);
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, ptx::Type::u32);
  decoder.code.a = decoder.source(1, type);
  decoder.emit(shift_amount ? pick_integer(decoder, type,
                                           []<class T>() -> Code::Run {
                                             return unary<std::uint32_t, T, BfindShift>;
                                           })
                            : pick_integer(decoder, type, []<class T>() -> Code::Run {
                                return unary<std::uint32_t, T, Bfind>;
                              }));
}

void decode_brev(Decoder& decoder) {
  const ptx::Type type = bits_type(decoder);
  if (ptx::bytes_of(type) < 4) decoder.fail_type(type);
  take_operands(decoder, type, 1);
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return unary<T, T, Brev>; }));
}

void decode_bfe(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (ptx::bytes_of(type) < 4) decoder.fail_type(type);
  decoder.expect_operands(4);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.source(1, type);
  decoder.code.b = decoder.source(2, ptx::Type::u32);
  decoder.code.c = decoder.source(3, ptx::Type::u32);
  decoder.emit(pick_integer(decoder, type, []<class T>() -> Code::Run { return extract<T>; }));
}

void decode_bfi(Decoder& decoder) {
  const ptx::Type type = bits_type(decoder);
  if (ptx::bytes_of(type) < 4) decoder.fail_type(type);
  decoder.expect_operands(5);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.source(1, type);
  decoder.code.b = decoder.source(2, type);
  decoder.code.c = decoder.source(3, ptx::Type::u32);
  decoder.code.f = decoder.source(4, ptx::Type::u32);
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return insert<T>; }));
}

void decode_bmsk(Decoder& decoder) {
  take_wrap_or_clamp(decoder);
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::b32) decoder.fail_type(type);
  take_operands(decoder, type, 2);
  decoder.emit(bit_mask);
}

void decode_szext(Decoder& decoder) {
  take_wrap_or_clamp(decoder);
  const ptx::Type type = decoder.type();
  take_operands(decoder, type, 2);
  if (type == ptx::Type::u32) return decoder.emit(sign_extend<std::uint32_t>);
  if (type == ptx::Type::s32) return decoder.emit(sign_extend<std::int32_t>);
  decoder.fail_type(type);
}

void decode_fns(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::b32) decoder.fail_type(type);
  take_operands(decoder, type, 3);
  decoder.emit(fns);
}

void decode_prmt(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::b32) decoder.fail_type(type);
  unsigned char mode = generic_mode;
  unsigned char next = f4e;
  for (const std::string_view name : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) {
    if (decoder.take(name)) mode = next;
    ++next;
  }
  take_operands(decoder, type, 3);
  decoder.code.variant = mode;
  decoder.emit(permute);
}

const Opcodes opcodes{
    {"and", decode_logic<And>},   {"or", decode_logic<Or>},   {"xor", decode_logic<Xor>},
    {"not", decode_not},          {"cnot", decode_cnot},      {"lop3", decode_lop3},
    {"shl", decode_shl},          {"shr", decode_shr},        {"shf", decode_shf},
    {"popc", decode_count<Popc>}, {"clz", decode_count<Clz>}, {"bfind", decode_bfind},
    {"brev", decode_brev},        {"bfe", decode_bfe},        {"bfi", decode_bfi},
    {"bmsk", decode_bmsk},        {"szext", decode_szext},    {"fns", decode_fns},
    {"prmt", decode_prmt}};

}  // namespace
}  // namespace emulator
