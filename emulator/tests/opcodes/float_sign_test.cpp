#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/tests/opcodes/float_reference.h"

// PTX ISA: abs, neg, copysign, min, max, testp.
namespace emulator::test {
namespace {

// "For abs and neg, NaN inputs yield an unspecified NaN."
Row sign_row(const std::string& opcode, const std::string& type, bool ftz) {
  const Format format = Type(type.c_str()).format();
  return {opcode + (ftz ? ".ftz." : ".") + type + " %d, %a;",
          type.c_str(),
          {type.c_str()},
          [=](std::span<const std::uint64_t> x) {
            if (format.is_nan(x[0])) return Expected::nan();
            const std::uint64_t a = ftz ? format.flushed(x[0]) : x[0];
            return Expected(opcode == "abs" ? format.magnitude(a) : a ^ format.sign());
          }};
}

TEST(FloatSign, AbsAndNeg) {
  check({sign_row("abs", "f32", false), sign_row("abs", "f32", true), sign_row("abs", "f64", false),
         sign_row("neg", "f32", false), sign_row("neg", "f32", true),
         sign_row("neg", "f64", false)});
}

// copysign d, a, b: the sign of a on b. Bits alone, so that NaNs keep theirs.
TEST(FloatSign, Copysign) {
  std::vector<Row> rows;
  for (const std::string type : {"f32", "f64"}) {
    const Format format = Type(type.c_str()).format();
    rows.push_back({"copysign." + type + " %d, %a, %b;",
                    type.c_str(),
                    {type.c_str(), type.c_str()},
                    [format](std::span<const std::uint64_t> x) {
                      return Expected((x[0] & format.sign()) | format.magnitude(x[1]));
                    }});
  }
  check(rows);
}

Int128 key(Format format, std::uint64_t x) {
  const auto magnitude = static_cast<Int128>(format.magnitude(x));
  return format.is_negative(x) ? -1 - magnitude : magnitude;  // -0 below +0
}

struct MinMax {
  bool maximum, ftz;
};

// A NaN loses against a number; two NaNs give the canonical one. "+0.0 > -0.0".
Expected min_max(Format format, const MinMax& kind, std::uint64_t a, std::uint64_t b) {
  if (kind.ftz) a = format.flushed(a), b = format.flushed(b);
  const bool a_nan = format.is_nan(a), b_nan = format.is_nan(b);
  if (a_nan && b_nan) return Expected::nan();
  if (a_nan || b_nan) return Expected(a_nan ? b : a);
  return Expected((key(format, a) < key(format, b)) != kind.maximum ? a : b);
}

Row min_max_row(const std::string& type, const MinMax& kind) {
  const Format format = Type(type.c_str()).format();
  return {std::string(kind.maximum ? "max" : "min") + (kind.ftz ? ".ftz." : ".") + type +
              " %d, %a, %b;",
          type.c_str(),
          {type.c_str(), type.c_str()},
          [=](std::span<const std::uint64_t> x) { return min_max(format, kind, x[0], x[1]); }};
}

TEST(FloatSign, MinAndMax) {
  std::vector<Row> rows;
  for (const bool maximum : {false, true}) {
    rows.push_back(min_max_row("f32", {maximum, false}));
    rows.push_back(min_max_row("f32", {maximum, true}));
    rows.push_back(min_max_row("f64", {maximum, false}));
  }
  check(rows);
}

TEST(FloatSign, MinAndMaxOfTwoNansAreTheCanonicalNan) {
  const Reference canonical = [](std::span<const std::uint64_t> x) {
    return f32.is_nan(x[0]) && f32.is_nan(x[1]) ? Expected(0x7FFFFFFF) : Expected::anything();
  };
  check({{"min.f32 %d, %a, %b;", "f32", {"f32", "f32"}, canonical},
         {"max.f32 %d, %a, %b;", "f32", {"f32", "f32"}, canonical}});
}

TEST(FloatSign, Testp) {
  using Predicate = bool (*)(Format, std::uint64_t);
  const std::pair<std::string, Predicate> tests[] = {
      {"finite", [](Format f, std::uint64_t x) { return !f.is_nan(x) && !f.is_infinite(x); }},
      {"infinite", [](Format f, std::uint64_t x) { return f.is_infinite(x); }},
      {"number", [](Format f, std::uint64_t x) { return !f.is_nan(x); }},
      {"notanumber", [](Format f, std::uint64_t x) { return f.is_nan(x); }},
      {"normal",
       [](Format f, std::uint64_t x) {
         return !f.is_nan(x) && !f.is_infinite(x) && !f.is_subnormal(x) && !f.is_zero(x);
       }},
      {"subnormal", [](Format f, std::uint64_t x) { return f.is_subnormal(x); }}};
  std::vector<Row> rows;
  for (const auto& [name, test] : tests) {
    for (const std::string type : {"f32", "f64"}) {
      const Format format = Type(type.c_str()).format();
      // Zero: the ISA names it in neither class.
      const Reference reference = [format, test = test](std::span<const std::uint64_t> x) {
        return format.is_zero(x[0]) ? Expected::anything() : Expected(test(format, x[0]));
      };
      rows.push_back(
          {"testp." + name + "." + type + " %d, %a;", "pred", {type.c_str()}, reference, true});
    }
  }
  check(rows);
}

}  // namespace
}  // namespace emulator::test
