#include <array>
#include <string_view>

#include "emulator/machine/float_rules.h"
#include "emulator/machine/instructions/half_rules.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

/// An operator as the three ordered outcomes and NaN that make it true.
struct Comparison {
  std::string_view name;
  bool less, equal, greater, unordered;
  bool for_integers, for_floats;
};

constexpr std::array comparisons{
    Comparison{"eq", false, true, false, false, true, true},
    Comparison{"ne", true, false, true, false, true, true},
    Comparison{"lt", true, false, false, false, true, true},
    Comparison{"le", true, true, false, false, true, true},
    Comparison{"gt", false, false, true, false, true, true},
    Comparison{"ge", false, true, true, false, true, true},
    // For unsigned integers.
    Comparison{"lo", true, false, false, false, true, false},
    Comparison{"ls", true, true, false, false, true, false},
    Comparison{"hi", false, false, true, false, true, false},
    Comparison{"hs", false, true, true, false, true, false},
    Comparison{"equ", false, true, false, true, false, true},
    Comparison{"neu", true, false, true, true, false, true},
    Comparison{"ltu", true, false, false, true, false, true},
    Comparison{"leu", true, true, false, true, false, true},
    Comparison{"gtu", false, false, true, true, false, true},
    Comparison{"geu", false, true, true, true, false, true},
    Comparison{"num", true, true, true, false, false, true},
    Comparison{"nan", false, false, false, true, false, true},
};

enum Combine : unsigned char { none, with_and, with_or, with_xor };

// The value that a type compares as.
template <class T>
struct Plain {
  using Register = T;
  static T read(T value, bool) { return value; }
};
struct Single {
  using Register = float;
  static float read(float value, bool ftz) { return ftz ? flushed(value) : value; }
};
template <bool brain>
struct Half {
  using Register = std::uint16_t;
  static double read(std::uint16_t value, bool ftz) {
    return half_to_double<brain>(ftz ? flushed_half<brain>(value) : value);
  }
};
template <bool brain, int shift>
struct HalfOfTwo {
  using Register = std::uint32_t;
  static double read(std::uint32_t value, bool ftz) {
    return Half<brain>::read(static_cast<std::uint16_t>(value >> shift), ftz);
  }
};

/// Bits of the outcomes: 1 less, 2 equal, 4 greater, 8 unordered.
template <unsigned outcomes, class T>
bool holds(T a, T b) {
  if constexpr (outcomes == 1) return a < b;
  if constexpr (outcomes == 2) return a == b;
  if constexpr (outcomes == 3) return a <= b;
  if constexpr (outcomes == 4) return a > b;
  if constexpr (outcomes == 6) return a >= b;
  if constexpr (outcomes == 8) return a != a || b != b;
  return ((outcomes & 1) != 0 && a < b) || ((outcomes & 2) != 0 && a == b) ||
         ((outcomes & 4) != 0 && a > b) || ((outcomes & 8) != 0 && (a != a || b != b));
}

template <class Read, unsigned outcomes>
Mask compare(Warp& warp, const Code& code, Mask lanes) {
  const auto *a = warp.at<typename Read::Register>(code.a),
             *b = warp.at<typename Read::Register>(code.b);
  const bool ftz = code.flag;
  if (lanes == all_lanes) {
    // Two steps, so that the comparisons themselves are done many at a time.
    alignas(64) std::uint8_t truth[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i)
      truth[i] = holds<outcomes>(Read::read(a[i], ftz), Read::read(b[i], ftz));
    Mask result = 0;
    for (int word = 0; word < 4; ++word) {
      std::uint64_t eight;
      __builtin_memcpy(&eight, truth + 8 * word, 8);
      result |= static_cast<Mask>((eight * 0x0102040810204080u) >> 56) << (8 * word);
    }
    return result;
  }
  Mask result = 0;
  for_lanes(lanes, [&](int i) {
    result |= static_cast<Mask>(holds<outcomes>(Read::read(a[i], ftz), Read::read(b[i], ftz))) << i;
  });
  return result;
}

/// flag: ftz; flag2: the predicate c is negated; variant: how c combines. e gets the opposite.
void store(Warp& warp, const Code& code, Mask lanes, Mask truth, Place place, bool opposite) {
  Mask result = opposite ? ~truth : truth;
  if (code.variant != none) {
    Mask other = warp.predicate(code.c);
    if (code.flag2) other = ~other;
    if (code.variant == with_and) result &= other;
    if (code.variant == with_or) result |= other;
    if (code.variant == with_xor) result ^= other;
  }
  Mask& d = warp.predicate(place);
  d = (d & ~lanes) | (result & lanes);
}

template <class Read, unsigned outcomes>
void setp(Warp& warp, const Code& code, Mask lanes) {
  const Mask truth = compare<Read, outcomes>(warp, code, lanes);
  // c may be one of the destinations.
  if (code.flag3) {
    const Mask before = code.variant != none ? warp.predicate(code.c) : 0;
    store(warp, code, lanes, truth, code.d, false);
    if (code.variant != none) {
      Mask other = code.flag2 ? ~before : before, result = ~truth;
      if (code.variant == with_and) result &= other;
      if (code.variant == with_or) result |= other;
      if (code.variant == with_xor) result ^= other;
      Mask& e = warp.predicate(code.e);
      e = (e & ~lanes) | (result & lanes);
    } else {
      store(warp, code, lanes, truth, code.e, true);
    }
    return;
  }
  store(warp, code, lanes, truth, code.d, false);
}

/// Two comparisons of packed halves: d is that of the lower ones, e that of the upper ones.
template <bool brain, unsigned outcomes>
void setp_two(Warp& warp, const Code& code, Mask lanes) {
  const Mask low = compare<HalfOfTwo<brain, 0>, outcomes>(warp, code, lanes);
  const Mask high = compare<HalfOfTwo<brain, 16>, outcomes>(warp, code, lanes);
  const Mask before = code.variant != none ? warp.predicate(code.c) : 0;
  store(warp, code, lanes, low, code.d, false);
  Mask result = high;
  const Mask other = code.flag2 ? ~before : before;
  if (code.variant == with_and) result &= other;
  if (code.variant == with_or) result |= other;
  if (code.variant == with_xor) result ^= other;
  Mask& e = warp.predicate(code.e);
  e = (e & ~lanes) | (result & lanes);
}

template <template <unsigned> class Make>
Code::Run pick_outcomes(unsigned outcomes) {
  switch (outcomes) {
    case 1:
      return Make<1>::run();
    case 2:
      return Make<2>::run();
    case 3:
      return Make<3>::run();
    case 4:
      return Make<4>::run();
    case 5:
      return Make<5>::run();
    case 6:
      return Make<6>::run();
    case 7:
      return Make<7>::run();
    case 8:
      return Make<8>::run();
    case 9:
      return Make<9>::run();
    case 10:
      return Make<10>::run();
    case 11:
      return Make<11>::run();
    case 12:
      return Make<12>::run();
    case 13:
      return Make<13>::run();
    case 14:
      return Make<14>::run();
    default:
      return nullptr;
  }
}

template <class Read>
struct SetpOf {
  template <unsigned outcomes>
  struct Make {
    static Code::Run run() { return setp<Read, outcomes>; }
  };
};
template <bool brain>
struct SetpTwoOf {
  template <unsigned outcomes>
  struct Make {
    static Code::Run run() { return setp_two<brain, outcomes>; }
  };
};

/// `set` writes all ones, or 1.0 for a floating type, where setp would write a bit. Its first half
/// is setp into a mask.
template <class Read, class Out>
void set(Warp& warp, const Code& code, Mask lanes) {
  const auto *a = warp.at<typename Read::Register>(code.a),
             *b = warp.at<typename Read::Register>(code.b);
  const Mask other =
      code.variant != none ? (code.flag2 ? ~warp.predicate(code.c) : warp.predicate(code.c)) : 0;
  const auto outcomes = static_cast<unsigned>(code.offset);
  Out* d = warp.at<Out>(code.d);
  for_lanes(lanes, [&](int i) {
    const auto x = Read::read(a[i], code.flag), y = Read::read(b[i], code.flag);
    bool truth = ((outcomes & 1) != 0 && x < y) || ((outcomes & 2) != 0 && x == y) ||
                 ((outcomes & 4) != 0 && x > y) || ((outcomes & 8) != 0 && (x != x || y != y));
    if (code.variant == with_and) truth = truth && has_lane(other, i);
    if (code.variant == with_or) truth = truth || has_lane(other, i);
    if (code.variant == with_xor) truth = truth != has_lane(other, i);
    if constexpr (std::is_floating_point_v<Out>)
      d[i] = truth ? Out{1} : Out{0};
    else if constexpr (sizeof(Out) == 2)
      d[i] = truth ? (code.flag3 ? 0x3f80 : 0x3c00) : 0;
    else
      d[i] = truth ? ~Out{0} : Out{0};
  });
}

template <bool brain, bool ones>
void set_two(Warp& warp, const Code& code, Mask lanes) {
  const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b);
  const auto outcomes = static_cast<unsigned>(code.offset);
  auto* d = warp.at<std::uint32_t>(code.d);
  for_lanes(lanes, [&](int i) {
    std::uint32_t result = 0;
    for (const int shift : {0, 16}) {
      const double x = Half<brain>::read(static_cast<std::uint16_t>(a[i] >> shift), code.flag);
      const double y = Half<brain>::read(static_cast<std::uint16_t>(b[i] >> shift), code.flag);
      const bool truth = ((outcomes & 1) != 0 && x < y) || ((outcomes & 2) != 0 && x == y) ||
                         ((outcomes & 4) != 0 && x > y) ||
                         ((outcomes & 8) != 0 && (x != x || y != y));
      constexpr std::uint32_t one = ones ? 0xffff : brain ? 0x3f80 : 0x3c00;
      if (truth) result |= one << shift;
    }
    d[i] = result;
  });
}

unsigned outcomes_of(Decoder& decoder, bool& integers, bool& floats) {
  for (const Comparison& each : comparisons) {
    if (!decoder.take(each.name)) continue;
    integers = each.for_integers;
    floats = each.for_floats;
    return (each.less ? 1u : 0u) | (each.equal ? 2u : 0u) | (each.greater ? 4u : 0u) |
           (each.unordered ? 8u : 0u);
  }
  decoder.fail("a comparison is missing");
}

void take_combination(Decoder& decoder, std::size_t index) {
  if (decoder.take("and"))
    decoder.code.variant = with_and;
  else if (decoder.take("or"))
    decoder.code.variant = with_or;
  else if (decoder.take("xor"))
    decoder.code.variant = with_xor;
  decoder.expect_operands(decoder.code.variant == none ? index : index + 1);
  if (decoder.code.variant != none) decoder.code.c = decoder.predicate(index, decoder.code.flag2);
}

/// The comparison of a type, shared by setp and set.
unsigned take_comparison(Decoder& decoder, ptx::Type& type, bool is_set) {
  bool integers = false, floats = false;
  unsigned outcomes = outcomes_of(decoder, integers, floats);
  decoder.code.flag = decoder.take("ftz");
  type = decoder.type();
  if (is_set) return outcomes;
  if (ptx::is_float(type) ? !floats : !integers) decoder.fail_type(type);
  return outcomes;
}

template <class T>
void selp(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b);
  const Mask predicate = warp.predicate(code.c) ^ (code.flag2 ? all_lanes : 0);
  for_lanes(lanes, [=](int i) { d[i] = (predicate >> i & 1) != 0 ? a[i] : b[i]; });
}

/// a where c >= 0, else b. A NaN takes b.
template <class T, class Selector>
void slct(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b);
  const auto* c = warp.at<Selector>(code.c);
  const bool ftz = code.flag;
  for_lanes(lanes, [=](int i) {
    Selector selector = c[i];
    if constexpr (std::is_same_v<Selector, float>)
      if (ftz) selector = flushed(selector);
    d[i] = selector >= 0 ? a[i] : b[i];
  });
}

/// b types compare as unsigned.
template <class F>
Code::Run pick_comparable(const Decoder& decoder, ptx::Type type, F f) {
  switch (type) {
    case ptx::Type::b16:
      return f.template operator()<Plain<std::uint16_t>>();
    case ptx::Type::b32:
      return f.template operator()<Plain<std::uint32_t>>();
    case ptx::Type::b64:
      return f.template operator()<Plain<std::uint64_t>>();
    case ptx::Type::f32:
      return f.template operator()<Single>();
    case ptx::Type::f64:
      return f.template operator()<Plain<double>>();
    case ptx::Type::f16:
      return f.template operator()<Half<false>>();
    case ptx::Type::bf16:
      return f.template operator()<Half<true>>();
    default:
      return pick_integer(decoder, type,
                          [&]<class T>() { return f.template operator()<Plain<T>>(); });
  }
}

void decode_setp(Decoder& decoder) {
  ptx::Type type{};
  const unsigned outcomes = take_comparison(decoder, type, false);
  decoder.code.d = decoder.destination(0, ptx::Type::pred);
  decoder.code.flag3 = decoder.operand(0).second != -1;
  if (decoder.code.flag3) decoder.code.e = decoder.second_destination(0);
  decoder.code.a = decoder.source(1, type);
  decoder.code.b = decoder.source(2, type);
  take_combination(decoder, 3);
  if (ptx::is_bits(type) && outcomes != 2 && outcomes != 5) decoder.fail_type(type);
  if (type == ptx::Type::f16x2)
    return decoder.emit(pick_outcomes<SetpTwoOf<false>::Make>(outcomes));
  if (type == ptx::Type::bf16x2)
    return decoder.emit(pick_outcomes<SetpTwoOf<true>::Make>(outcomes));
  decoder.emit(pick_comparable(decoder, type, [&]<class Read>() {
    return pick_outcomes<SetpOf<Read>::template Make>(outcomes);
  }));
}

void decode_set(Decoder& decoder) {
  bool integers = false, floats = false;
  const unsigned outcomes = outcomes_of(decoder, integers, floats);
  decoder.code.flag = decoder.take("ftz");
  decoder.code.offset = outcomes;
  const ptx::Type out = decoder.type(), in = decoder.type();
  decoder.code.d = decoder.destination(0, out);
  decoder.code.a = decoder.source(1, in);
  decoder.code.b = decoder.source(2, in);
  take_combination(decoder, 3);
  if (in == ptx::Type::f16x2 || in == ptx::Type::bf16x2) {
    if (decoder.code.variant != none)
      decoder.fail("a combination of packed comparisons is not implemented");
    const bool ones = !ptx::is_float(out);
    if (in == ptx::Type::f16x2)
      return decoder.emit(ones ? set_two<false, true> : set_two<false, false>);
    return decoder.emit(ones ? set_two<true, true> : set_two<true, false>);
  }
  decoder.code.flag3 = out == ptx::Type::bf16;
  decoder.emit(pick_comparable(decoder, in, [&]<class Read>() -> Code::Run {
    switch (out) {
      case ptx::Type::u32:
      case ptx::Type::s32:
        return set<Read, std::uint32_t>;
      case ptx::Type::f32:
        return set<Read, float>;
      case ptx::Type::f16:
      case ptx::Type::bf16:
        return set<Read, std::uint16_t>;
      default:
        decoder.fail_type(out);
    }
  }));
}

void decode_selp(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  decoder.expect_operands(4);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.source(1, type);
  decoder.code.b = decoder.source(2, type);
  decoder.code.c = decoder.predicate(3, decoder.code.flag2);
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return selp<T>; }));
}

void decode_slct(Decoder& decoder) {
  decoder.code.flag = decoder.take("ftz");
  const ptx::Type type = decoder.type(), selector = decoder.type();
  decoder.expect_operands(4);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.source(1, type);
  decoder.code.b = decoder.source(2, type);
  decoder.code.c = decoder.source(3, selector);
  if (selector == ptx::Type::s32)
    return decoder.emit(
        pick_bits(decoder, type, []<class T>() -> Code::Run { return slct<T, std::int32_t>; }));
  if (selector != ptx::Type::f32) decoder.fail_type(selector);
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return slct<T, float>; }));
}

const Opcodes opcodes{
    {"setp", decode_setp}, {"set", decode_set}, {"selp", decode_selp}, {"slct", decode_slct}};

}  // namespace
}  // namespace emulator
