#include "emulator/machine/instructions/half_rules.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

constexpr std::uint16_t sign_bit = 0x8000;

template <bool brain>
constexpr std::uint16_t one = brain ? 0x3f80 : 0x3c00;

struct Fma {
  static constexpr std::size_t sources = 3;
  template <bool brain>
  static std::uint16_t apply(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return half_fma<brain>(a, b, c);
  }
};
struct Add {
  static constexpr std::size_t sources = 2;
  template <bool brain>
  static std::uint16_t apply(std::uint16_t a, std::uint16_t b, std::uint16_t) {
    return half_fma<brain>(a, one<brain>, b);
  }
};
struct Sub {
  static constexpr std::size_t sources = 2;
  template <bool brain>
  static std::uint16_t apply(std::uint16_t a, std::uint16_t b, std::uint16_t) {
    return is_half_nan<brain>(b) ? half_nan : half_fma<brain>(a, one<brain>, b ^ sign_bit);
  }
};
struct Mul {
  static constexpr std::size_t sources = 2;
  template <bool brain>
  static std::uint16_t apply(std::uint16_t a, std::uint16_t b, std::uint16_t) {
    return round_to_half<brain>(half_to_double<brain>(a) * half_to_double<brain>(b),
                                Rounding::nearest);
  }
};
struct Neg {
  static constexpr std::size_t sources = 1;
  template <bool brain>
  static std::uint16_t apply(std::uint16_t a, std::uint16_t, std::uint16_t) {
    return a ^ sign_bit;
  }
};
struct Abs {
  static constexpr std::size_t sources = 1;
  template <bool brain>
  static std::uint16_t apply(std::uint16_t a, std::uint16_t, std::uint16_t) {
    return a & static_cast<std::uint16_t>(~sign_bit);
  }
};
template <bool maximum, bool propagates>
struct Extreme {
  static constexpr std::size_t sources = 2;
  template <bool brain>
  static std::uint16_t apply(std::uint16_t a, std::uint16_t b, std::uint16_t) {
    const bool left = is_half_nan<brain>(a), right = is_half_nan<brain>(b);
    if (left || right) return propagates || (left && right) ? half_nan : left ? b : a;
    const double x = half_to_double<brain>(a), y = half_to_double<brain>(b);
    if (x == y) return ((a & sign_bit) != 0) == maximum ? b : a;
    return (x < y) == maximum ? b : a;
  }
};

/// flag: ftz; flag2: sat; flag3: relu (of fma).
template <class Op, bool brain>
std::uint16_t element(const Code& code, std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  if (code.flag) {
    a = flushed_half<brain>(a);
    b = flushed_half<brain>(b);
    c = flushed_half<brain>(c);
  }
  std::uint16_t result = Op::template apply<brain>(a, b, c);
  if (code.flag) result = flushed_half<brain>(result);
  if (code.flag2) {
    const bool positive = !is_half_nan<brain>(result) && (result & sign_bit) == 0;
    result = !positive ? 0 : result > one<brain> ? one<brain> : result;
  }
  if (code.flag3 && (result & sign_bit) != 0 && !is_half_nan<brain>(result)) result = 0;
  return result;
}

template <class Op, bool brain>
void run_one(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint16_t>(code.d);
  const auto *a = warp.at<std::uint16_t>(code.a), *b = warp.at<std::uint16_t>(code.b),
             *c = warp.at<std::uint16_t>(code.c);
  for_lanes(lanes, [&](int i) { d[i] = element<Op, brain>(code, a[i], b[i], c[i]); });
}

template <class Op, bool brain>
void run_two(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b),
             *c = warp.at<std::uint32_t>(code.c);
  const auto part = [](std::uint32_t word, int shift) {
    return static_cast<std::uint16_t>(word >> shift);
  };
  for_lanes(lanes, [&](int i) {
    std::uint32_t result = 0;
    for (const int shift : {0, 16})
      result |= static_cast<std::uint32_t>(element<Op, brain>(code, part(a[i], shift),
                                                              part(b[i], shift), part(c[i], shift)))
                << shift;
    d[i] = result;
  });
}

template <class Op>
void decode_op(Decoder& decoder, ptx::Type type) {
  decoder.take("rn");
  const bool is_brain = type == ptx::Type::bf16 || type == ptx::Type::bf16x2;
  decoder.code.flag = !is_brain && decoder.take("ftz");
  if (Op::sources == 3 || !is_brain) decoder.code.flag2 = decoder.take("sat");
  if (Op::sources == 3) decoder.code.flag3 = decoder.take("relu");
  take_operands(decoder, type, Op::sources);
  if (Op::sources < 2) decoder.code.b = decoder.code.a;
  if (Op::sources < 3) decoder.code.c = decoder.code.a;
  switch (type) {
    case ptx::Type::f16:
      return decoder.emit(run_one<Op, false>);
    case ptx::Type::f16x2:
      return decoder.emit(run_two<Op, false>);
    case ptx::Type::bf16:
      return decoder.emit(run_one<Op, true>);
    case ptx::Type::bf16x2:
      return decoder.emit(run_two<Op, true>);
    default:
      decoder.fail_type(type);
  }
}

}  // namespace

void decode_half(Decoder& decoder, ptx::Type type, std::string_view opcode) {
  if (opcode == "add") return decode_op<Add>(decoder, type);
  if (opcode == "sub") return decode_op<Sub>(decoder, type);
  if (opcode == "mul") return decode_op<Mul>(decoder, type);
  if (opcode == "fma") return decode_op<Fma>(decoder, type);
  if (opcode == "neg") return decode_op<Neg>(decoder, type);
  if (opcode == "abs") return decode_op<Abs>(decoder, type);
  const bool propagates = decoder.take("NaN");
  if (opcode == "min")
    return propagates ? decode_op<Extreme<false, true>>(decoder, type)
                      : decode_op<Extreme<false, false>>(decoder, type);
  if (opcode == "max")
    return propagates ? decode_op<Extreme<true, true>>(decoder, type)
                      : decode_op<Extreme<true, false>>(decoder, type);
  decoder.fail_type(type);
}

}  // namespace emulator
