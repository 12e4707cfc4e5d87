#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/tests/opcodes/float_reference.h"

// PTX ISA, "Floating-Point Instructions": those that are IEEE 754's.
namespace emulator::test {
namespace {

struct Operation {
  std::string opcode;
  int operands;
  std::uint64_t (*compute)(Format format, const std::uint64_t* x, Rounding rounding);
};

const Operation sum{"add", 2, [](Format format, const std::uint64_t* x, Rounding rounding) {
                      return add(format, x[0], x[1], rounding);
                    }};
const Operation difference{"sub", 2, [](Format format, const std::uint64_t* x, Rounding rounding) {
                             return add(format, x[0], x[1] ^ format.sign(), rounding);
                           }};
const Operation product{"mul", 2, [](Format format, const std::uint64_t* x, Rounding rounding) {
                          return multiply(format, x[0], x[1], rounding);
                        }};
const Operation fused{"fma", 3, [](Format format, const std::uint64_t* x, Rounding rounding) {
                        return fma(format, x[0], x[1], x[2], rounding);
                      }};
const Operation quotient{"div", 2, [](Format format, const std::uint64_t* x, Rounding rounding) {
                           return divide(format, x[0], x[1], rounding);
                         }};
const Operation root{"sqrt", 1, [](Format format, const std::uint64_t* x, Rounding rounding) {
                       return square_root(format, x[0], rounding);
                     }};
const Operation reciprocal{"rcp", 1, [](Format format, const std::uint64_t* x, Rounding rounding) {
                             return divide(format, format.one(), x[0], rounding);
                           }};

Row row_of(const Operation& operation, const char* type, const Modifiers& modifiers) {
  const std::string names[] = {"", " %d, %a;", " %d, %a, %b;", " %d, %a, %b, %c;"};
  const Format format = Type(type).format();
  return {operation.opcode + modifiers.text() + "." + type + names[operation.operands], type,
          std::vector<Type>(static_cast<std::size_t>(operation.operands), Type(type)),
          float_reference(format, modifiers, [=](const std::uint64_t* x) {
            return operation.compute(format, x, modifiers.rounding);
          })};
}

std::vector<Row> rows_of(const Operation& operation, bool may_saturate, bool may_omit_rounding) {
  std::vector<Row> rows;
  for (const bool ftz : {false, true}) {
    for (const bool sat : {false, true}) {
      if (sat && !may_saturate) continue;
      for (const Rounding rounding : all_roundings) {
        rows.push_back(row_of(operation, "f32", {rounding, true, ftz, sat}));
      }
      if (may_omit_rounding) rows.push_back(row_of(operation, "f32", {.ftz = ftz, .sat = sat}));
    }
  }
  for (const Rounding rounding : all_roundings) {
    rows.push_back(row_of(operation, "f64", {rounding, true}));
  }
  if (may_omit_rounding) rows.push_back(row_of(operation, "f64", {}));
  return rows;
}

TEST(FloatArithmetic, Add) { check(rows_of(sum, true, true)); }
TEST(FloatArithmetic, Sub) { check(rows_of(difference, true, true)); }
TEST(FloatArithmetic, Mul) { check(rows_of(product, true, true)); }
TEST(FloatArithmetic, Fma) { check(rows_of(fused, true, false)); }
TEST(FloatArithmetic, Div) { check(rows_of(quotient, false, false)); }
TEST(FloatArithmetic, Sqrt) { check(rows_of(root, false, false)); }
TEST(FloatArithmetic, Rcp) { check(rows_of(reciprocal, false, false)); }

// mad.f32 is fma.f32 since sm_20, mad.f64 fma.f64.
TEST(FloatArithmetic, Mad) {
  Operation mad = fused;
  mad.opcode = "mad";
  check({row_of(mad, "f32", {Rounding::nearest_even, true}),
         row_of(mad, "f32", {Rounding::down, true, true}),
         row_of(mad, "f64", {Rounding::toward_zero, true})});
}

// c = -(a * b), rounded: what remains is the product's rounding error, which only a fused
// operation finds.
TEST(FloatArithmetic, FmaOfACancellation) {
  std::vector<Row> rows;
  for (const std::string type : {"f32", "f64"}) {
    const Format format = Type(type.c_str()).format();
    rows.push_back(
        {"mul.rn." + type + " %d, %a, %b; neg." + type + " %d, %d; fma.rn." + type +
             " %d, %a, %b, %d;",
         type.c_str(),
         {type.c_str(), type.c_str()},
         float_reference(format, {}, [format](const std::uint64_t* x) {
           const std::uint64_t rounded = multiply(format, x[0], x[1], Rounding::nearest_even);
           if (format.is_nan(rounded)) return rounded;
           return fma(format, x[0], x[1], rounded ^ format.sign(), Rounding::nearest_even);
         })});
  }
  check(rows);
}

// 0f and 0d constants are bits; decimal ones are doubles.
TEST(FloatArithmetic, Immediates) {
  const auto plus = [](Format format, std::uint64_t y) {
    return float_reference(format, {}, [format, y](const std::uint64_t* x) {
      return add(format, x[0], y, Rounding::nearest_even);
    });
  };
  check({{"add.rn.f32 %d, %a, 0f3FC00000;", "f32", {"f32"}, plus(f32, 0x3FC00000)},
         {"add.rn.f32 %d, %a, 0fFF800000;", "f32", {"f32"}, plus(f32, 0xFF800000)},
         {"add.rn.f64 %d, %a, 0d3FF8000000000000;", "f64", {"f64"}, plus(f64, 0x3FF8000000000000)},
         {"add.rn.f64 %d, %a, 0DC000000000000001;", "f64", {"f64"}, plus(f64, 0xC000000000000001)},
         {"add.rn.f64 %d, %a, 1.5;", "f64", {"f64"}, plus(f64, 0x3FF8000000000000)},
         {"add.rn.f64 %d, %a, -2.5e2;", "f64", {"f64"}, plus(f64, 0xC06F400000000000)},
         {"add.rn.f32 %d, %a, 1.5;", "f32", {"f32"}, plus(f32, 0x3FC00000)}});
}

// "NaN payloads are supported for double-precision instructions": a sole quiet NaN comes through.
TEST(FloatArithmetic, DoubleNanPayloads) {
  const Reference payload = [](std::span<const std::uint64_t> x) {
    const bool a = f64.is_nan(x[0]), b = f64.is_nan(x[1]);
    if (a == b) return Expected::anything();
    return Expected::either((a ? x[0] : x[1]) | f64.quiet_bit(),
                            (a ? x[0] : x[1]) | f64.quiet_bit() | f64.sign());
  };
  check({{"add.rn.f64 %d, %a, %b;", "f64", {"f64", "f64"}, payload},
         {"mul.rn.f64 %d, %a, %b;", "f64", {"f64", "f64"}, payload},
         {"fma.rn.f64 %d, %a, %b, %b;", "f64", {"f64", "f64"}, payload}});
}

}  // namespace
}  // namespace emulator::test
