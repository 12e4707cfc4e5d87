#include <algorithm>
#include <array>
#include <cstdlib>

#include "emulator/machine/instructions/lanes.h"

// SIMD video instructions: vadd4 and its like, on the two halves or four bytes of their operands.
// Bytes are taken in their order (.asel and .bsel are not known).
namespace emulator {
namespace {

enum Operation : unsigned char { add, sub, average, difference, min, max, set };
enum Comparison : unsigned char { eq, ne, lt, le, gt, ge };

/// How the operands are read and the results written; packed into Code::offset.
struct Form {
  unsigned width = 8;  // bits of an element
  bool a_signed = false, b_signed = false, d_signed = false;
  bool saturates = false, accumulates = false;
  unsigned comparison = eq;

  std::int64_t packed() const {
    return width | a_signed << 8 | b_signed << 9 | d_signed << 10 | saturates << 11 |
           accumulates << 12 | comparison << 13;
  }
  static Form of(std::int64_t bits) {
    const auto bit = [=](int at) { return (bits >> at & 1) != 0; };
    return {static_cast<unsigned>(bits & 0xff),   bit(8), bit(9), bit(10), bit(11), bit(12),
            static_cast<unsigned>(bits >> 13 & 7)};
  }
};

std::int32_t element(std::uint32_t value, unsigned index, unsigned width, bool is_signed) {
  const std::uint32_t top = value << (32 - width * (index + 1));
  return is_signed ? static_cast<std::int32_t>(top) >> (32 - width)
                   : static_cast<std::int32_t>(top >> (32 - width));
}

bool compares(std::int32_t a, std::int32_t b, unsigned comparison) {
  switch (comparison) {
    case eq:
      return a == b;
    case ne:
      return a != b;
    case lt:
      return a < b;
    case le:
      return a <= b;
    case gt:
      return a > b;
    default:
      return a >= b;
  }
}

template <Operation operation>
std::int32_t apply(std::int32_t a, std::int32_t b, const Form& form) {
  switch (operation) {
    case add:
      return a + b;
    case sub:
      return a - b;
    case average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case difference:
      return std::abs(a - b);
    case min:
      return std::min(a, b);
    case max:
      return std::max(a, b);
    case set:
      return compares(a, b, form.comparison) ? 1 : 0;
  }
}

std::int32_t saturated(std::int32_t value, const Form& form) {
  const std::int32_t least = form.d_signed ? -(1 << (form.width - 1)) : 0,
                     most = (1 << (form.width - (form.d_signed ? 1 : 0))) - 1;
  return std::clamp(value, least, most);
}

template <Operation operation>
void combine(Warp& warp, const Code& code, Mask lanes) {
  const Form form = Form::of(code.offset);
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b),
             *c = warp.at<std::uint32_t>(code.c);
  for_lanes(lanes, [=](int lane) {
    std::uint32_t result = c[lane];
    for (unsigned i = 0; i < 32 / form.width; ++i) {
      std::int32_t value = apply<operation>(element(a[lane], i, form.width, form.a_signed),
                                            element(b[lane], i, form.width, form.b_signed), form);
      if (form.saturates) value = saturated(value, form);
      const std::uint32_t field = ((std::uint32_t{1} << form.width) - 1) << (form.width * i);
      if (form.accumulates)
        result += static_cast<std::uint32_t>(value);
      else
        result =
            (result & ~field) | (static_cast<std::uint32_t>(value) << (form.width * i) & field);
    }
    d[lane] = result;
  });
}

template <Operation operation, unsigned width>
void decode(Decoder& decoder) {
  Form form{.width = width};
  const auto is_signed = [&] {
    const ptx::Type type = decoder.type();
    if (type != ptx::Type::u32 && type != ptx::Type::s32) decoder.fail_type(type);
    return type == ptx::Type::s32;
  };
  if (operation != set) form.d_signed = is_signed();
  form.a_signed = is_signed();
  form.b_signed = is_signed();
  if (operation == set) {
    constexpr std::array<std::string_view, 6> names{"eq", "ne", "lt", "le", "gt", "ge"};
    const auto found = std::ranges::find_if(names, [&](auto name) { return decoder.take(name); });
    if (found == names.end()) decoder.fail("a comparison is missing");
    form.comparison = static_cast<unsigned>(found - names.begin());
  } else {
    form.saturates = decoder.take("sat");
  }
  form.accumulates = decoder.take("add");
  if (form.saturates && form.accumulates) decoder.fail("'.sat' does not go with '.add'");
  decoder.expect_operands(4);
  decoder.code.d = decoder.destination(0, ptx::Type::u32);
  decoder.code.a = decoder.source(1, ptx::Type::u32);
  decoder.code.b = decoder.source(2, ptx::Type::u32);
  decoder.code.c = decoder.source(3, ptx::Type::u32);
  decoder.code.offset = form.packed();
  decoder.emit(combine<operation>);
}

const Opcodes opcodes{{"vadd4", decode<add, 8>},
                      {"vadd2", decode<add, 16>},
                      {"vsub4", decode<sub, 8>},
                      {"vsub2", decode<sub, 16>},
                      {"vavrg4", decode<average, 8>},
                      {"vavrg2", decode<average, 16>},
                      {"vabsdiff4", decode<difference, 8>},
                      {"vabsdiff2", decode<difference, 16>},
                      {"vmin4", decode<min, 8>},
                      {"vmin2", decode<min, 16>},
                      {"vmax4", decode<max, 8>},
                      {"vmax2", decode<max, 16>},
                      {"vset4", decode<set, 8>},
                      {"vset2", decode<set, 16>}};

}  // namespace
}  // namespace emulator
