#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emulator/tests/module.h"
#include "emulator/tests/opcodes/float_reference.h"

// PTX ISA, "cvt".
namespace emulator::test {
namespace {

const std::vector<std::string> integer_types{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
const std::vector<std::string> float_types{"f16", "f32", "f64"};

Type type_of(const std::string& name) { return Type(name.c_str()); }

Int128 integer_of(const Type& type, std::uint64_t x) {
  const auto value = static_cast<Int128>(x);
  const bool negative = type.is_signed() && (x >> (type.bits() - 1) & 1) != 0;
  return negative ? value - (Int128{1} << type.bits()) : value;
}

Int128 min_of(const Type& type) { return type.is_signed() ? -(Int128{1} << (type.bits() - 1)) : 0; }

Int128 max_of(const Type& type) {
  return (Int128{1} << (type.is_signed() ? type.bits() - 1 : type.bits())) - 1;
}

std::string cvt(const std::string& modifiers, const std::string& to, const std::string& from) {
  return "cvt" + modifiers + "." + to + "." + from + " %d, %a;";
}

// Sign-extends, zero-extends or cuts; with .sat it limits.
Row integer_row(const std::string& to, const std::string& from, bool saturate) {
  const Type target = type_of(to), source = type_of(from);
  return {cvt(saturate ? ".sat" : "", to, from),
          target,
          {source},
          [=](std::span<const std::uint64_t> x) {
            const Int128 value = integer_of(source, x[0]);
            if (!saturate) return Expected(value);
            return Expected(std::min(std::max(value, min_of(target)), max_of(target)));
          }};
}

// .sat is illegal where nothing can saturate.
bool can_saturate(const Type& target, const Type& source) {
  return min_of(source) < min_of(target) || max_of(source) > max_of(target);
}

TEST(Conversion, IntegerToInteger) {
  std::vector<Row> rows;
  for (const std::string& to : integer_types) {
    for (const std::string& from : integer_types) {
      rows.push_back(integer_row(to, from, false));
      if (can_saturate(type_of(to), type_of(from))) rows.push_back(integer_row(to, from, true));
    }
  }
  check(rows);
}

// A source register may be wider than the source type, and a destination wider than its own: the
// value is cut first and extended to the register afterwards.
TEST(Conversion, InWiderRegisters) {
  using I = std::int32_t;
  using U = std::uint32_t;
  using B = std::int8_t;
  using C = std::uint8_t;
  using L = std::int64_t;
  check({row("cvt.s32.s8 %d, %a;", [](I a) { return I{static_cast<B>(a)}; }),
         row("cvt.s32.s16 %d, %a;", [](I a) { return I{static_cast<std::int16_t>(a)}; }),
         row("cvt.u32.u8 %d, %a;", [](U a) { return U{static_cast<C>(a)}; }),
         row("cvt.s8.s32 %d, %a;", [](I a) { return I{static_cast<B>(a)}; }),
         row("cvt.u8.u32 %d, %a;", [](U a) { return U{static_cast<C>(a)}; }),
         row("cvt.u16.u8 %d, %a;",
             [](std::uint16_t a) { return static_cast<std::uint16_t>(a & 0xFF); }),
         row("cvt.s8.s64 %d, %a;", [](L a) { return L{static_cast<B>(a)}; }),
         row("cvt.s64.s8 %d, %a;", [](I a) { return L{static_cast<B>(a)}; }),
         row("cvt.sat.s8.s32 %d, %a;", [](I a) { return a < -128  ? -128
                                                        : a > 127 ? 127
                                                                  : a; }),
         row("cvt.sat.u8.s32 %d, %a;", [](I a) { return a < 0     ? 0
                                                        : a > 255 ? 255
                                                                  : a; })});
}

// "In float-to-integer conversion, NaN inputs": 0 if neither the source is .f64 nor the
// destination .s64 or .u64, else only the top bit. For 8 and 16 bits wide results from .f64 the
// text and the hardware are not known to agree.
Expected nan_as_integer(const Type& target, const Type& source) {
  if (source.bits() != 64 && target.bits() != 64) return 0;
  if (target.bits() < 32) return Expected::anything();
  return Expected(std::uint64_t{1} << (target.bits() - 1));
}

Row float_to_integer_row(const std::string& to, const std::string& from, Rounding rounding,
                         bool ftz, bool saturate) {
  const Type target = type_of(to), source = type_of(from);
  const std::string modifiers =
      "." + name_of(rounding) + "i" + (ftz ? ".ftz" : "") + (saturate ? ".sat" : "");
  return {cvt(modifiers, to, from), target, {source}, [=](std::span<const std::uint64_t> x) {
            const Format format = source.format();
            if (format.is_nan(x[0])) return nan_as_integer(target, source);
            const bool negative = format.is_negative(x[0]);
            if (format.is_infinite(x[0]))
              return Expected(negative ? min_of(target) : max_of(target));
            const Exact value = decode(format, ftz ? format.flushed(x[0]) : x[0]);
            return Expected(round_to_integer(value, rounding, min_of(target), max_of(target)));
          }};
}

// Results out of range are limited, with or without .sat.
TEST(Conversion, FloatToInteger) {
  std::vector<Row> rows;
  for (const std::string& from : float_types) {
    for (const std::string& to : integer_types) {
      for (const Rounding rounding : all_roundings) {
        rows.push_back(float_to_integer_row(to, from, rounding, false, false));
      }
      rows.push_back(float_to_integer_row(to, from, Rounding::toward_zero, false, true));
      if (from == "f32") rows.push_back(float_to_integer_row(to, from, Rounding::up, true, false));
    }
  }
  check(rows);
}

TEST(Conversion, IntegerToFloat) {
  std::vector<Row> rows;
  for (const std::string& to : float_types) {
    for (const std::string& from : integer_types) {
      for (const Rounding rounding : all_roundings) {
        const Type source = type_of(from);
        const Format format = type_of(to).format();
        rows.push_back({cvt("." + name_of(rounding), to, from),
                        type_of(to),
                        {source},
                        [=](std::span<const std::uint64_t> x) {
                          const Int128 value = integer_of(source, x[0]);
                          const auto magnitude = static_cast<UInt128>(value < 0 ? -value : value);
                          return Expected(round(format, {value < 0, {0, magnitude}, 0}, rounding));
                        }});
      }
    }
  }
  check(rows);
}

std::uint64_t converted(Format to, Format from, std::uint64_t x, Rounding rounding) {
  if (from.is_infinite(x)) return to.infinity() | (from.is_negative(x) ? to.sign() : 0);
  return round(to, decode(from, x), rounding);
}

Row float_to_float_row(const std::string& to, const std::string& from, const Modifiers& modifiers) {
  const Type target = type_of(to), source = type_of(from);
  return {cvt(modifiers.text(), to, from), target, {source}, [=](std::span<const std::uint64_t> x) {
            const Format format = source.format();
            Modifiers last = modifiers;
            last.ftz = modifiers.ftz && target.name() == "f32";
            if (format.is_nan(x[0]))
              return finished(target.format(), target.format().infinity() + 1, last);
            const bool flush = modifiers.ftz && source.name() == "f32";
            const std::uint64_t a = flush ? format.flushed(x[0]) : x[0];
            return finished(target.format(),
                            converted(target.format(), format, a, modifiers.rounding), last);
          }};
}

TEST(Conversion, FloatToFloat) {
  std::vector<Row> rows;
  for (const auto& [to, from] :
       {std::pair("f16", "f32"), std::pair("f16", "f64"), std::pair("f32", "f64")}) {
    for (const Rounding rounding : all_roundings) {
      rows.push_back(float_to_float_row(to, from, {rounding, true}));
    }
  }
  rows.push_back(float_to_float_row("f64", "f32", {}));
  rows.push_back(float_to_float_row("f32", "f16", {}));
  rows.push_back(float_to_float_row("f64", "f16", {}));
  for (const Rounding rounding : all_roundings) {
    rows.push_back(float_to_float_row("f32", "f64", {rounding, true, true}));
    rows.push_back(float_to_float_row("f16", "f32", {rounding, true, true}));
  }
  rows.push_back(float_to_float_row("f64", "f32", {.ftz = true}));
  rows.push_back(float_to_float_row("f32", "f16", {.ftz = true}));
  for (const bool ftz : {false, true}) {
    rows.push_back(float_to_float_row("f32", "f32", {.ftz = ftz, .sat = true}));
    rows.push_back(float_to_float_row("f64", "f32", {.ftz = ftz, .sat = true}));
    rows.push_back(float_to_float_row("f32", "f64", {Rounding::nearest_even, true, ftz, true}));
  }
  rows.push_back(float_to_float_row("f64", "f64", {.sat = true}));
  rows.push_back(float_to_float_row("f16", "f32", {Rounding::nearest_even, true, false, true}));
  check(rows);
}

// cvt.rni.f32.f32 and its like: an integer in the same format; a zero keeps the sign.
std::uint64_t integral(Format format, std::uint64_t x, Rounding rounding) {
  if (format.is_infinite(x) || format.is_zero(x)) return x;
  const Exact value = decode(format, x);
  if (value.exponent >= 0) return x;
  const Int128 limit = Int128{1} << 100;
  const Int128 integer = round_to_integer(value, rounding, -limit, limit);
  const auto magnitude = static_cast<UInt128>(integer < 0 ? -integer : integer);
  return round(format, {value.negative, {0, magnitude}, 0}, rounding);
}

TEST(Conversion, FloatToIntegralFloat) {
  std::vector<Row> rows;
  for (const std::string type : {"f32", "f64"}) {
    const Format format = type_of(type).format();
    for (const Rounding rounding : all_roundings) {
      for (const bool ftz : {false, true}) {
        for (const bool sat : {false, true}) {
          if (ftz && type == "f64") continue;
          const Modifiers modifiers{rounding, false, ftz, sat};
          rows.push_back({cvt("." + name_of(rounding) + "i" + modifiers.text(), type, type),
                          type_of(type),
                          {type_of(type)},
                          float_reference(format, modifiers, [=](const std::uint64_t* x) {
                            return integral(format, x[0], rounding);
                          })});
        }
      }
    }
  }
  check(rows);
}

// The ISA names 0x7FFF the NaN of .f16.
TEST(Conversion, NanToHalf) {
  check({{"cvt.rn.f16.f32 %d, %a;", "f16", {"f32"}, [](std::span<const std::uint64_t> x) {
            return f32.is_nan(x[0]) ? Expected(0x7FFF) : Expected::anything();
          }}});
}

// Ties go away from zero, unlike those of other conversions.
TEST(Conversion, FloatToTf32) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs{
      {0x3f800000, 0x3f800000}, {0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f802000},
      {0xbf801000, 0xbf802000}, {0x3f803000, 0x3f804000}, {0x00000fff, 0x00000000},
      {0x7f7fffff, 0x7f800000}, {0x7f800000, 0x7f800000}, {0xff800001, 0x7fffffff}};
  std::vector<std::uint32_t> in(32);
  for (std::size_t i = 0; i < pairs.size(); ++i) in[i] = pairs[i].first;
  Device device;
  Kernels kernels(
      device,
      module_head("sm_80") +
          kernel({"out", "in"}, element("%in", 4) + "ld.global.f32 %f1, [%l31];\n" +
                                    "cvt.rna.tf32.f32 %r3, %f1;\n" + store_u32("%out", "%r3")));
  const auto out = device.allocate(128);
  kernels.run("test", {.grid = {1}, .block = {32}}, out, device.upload(in));
  const auto results = device.download<std::uint32_t>(out, 32);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    EXPECT_EQ(results[i], pairs[i].second) << std::hex << pairs[i].first;
}

}  // namespace
}  // namespace emulator::test
