#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA, cvt: pairs of E4M3 and E5M2.
namespace emulator::test {
namespace {

struct F8 {
  const char* name;
  int exponent_bits;
  bool has_infinity;

  int fraction_bits() const { return 7 - exponent_bits; }
  /// The number of a code without its sign; NaN and infinity by the rules of OFP8.
  double value(unsigned code) const {
    const unsigned fraction = code & ((1U << fraction_bits()) - 1);
    const unsigned exponent = code >> fraction_bits(), top = (1U << exponent_bits) - 1;
    if (exponent == top && has_infinity) return fraction == 0 ? INFINITY : NAN;
    if (code == 0x7f) return NAN;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const double significand = std::ldexp(fraction, -fraction_bits()) + (exponent == 0 ? 0 : 1);
    return std::ldexp(significand, std::max<int>(static_cast<int>(exponent), 1) - bias);
  }
  /// The code nearest to the value, by trying all; the even one of two.
  unsigned nearest(double value) const {
    if (std::isnan(value)) return 0x7f;
    unsigned best = 0;
    for (unsigned code = 0; code < 0x80; ++code) {
      if (!std::isfinite(this->value(code))) continue;
      const double distance = std::fabs(this->value(code) - std::fabs(value)),
                   before = std::fabs(this->value(best) - std::fabs(value));
      if (distance < before || (distance == before && code % 2 == 0)) best = code;
      if (std::isinf(value)) best = code;
    }
    return best | (std::signbit(value) ? 0x80U : 0U);
  }
};
constexpr F8 formats[] = {{"e4m3x2", 4, false}, {"e5m2x2", 5, true}};

/// Numbers of all magnitudes that matter, among them ties, and special ones.
std::vector<std::uint32_t> operands() {
  std::vector<std::uint32_t> words;
  for (const float special :
       {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 448.0F, 464.0F, 465.0F, 57344.0F, 61440.0F, 61441.0F,
        0x1p-9F, 0x1p-10F, 0x1p-17F, 0x1.8p-17F})
    words.push_back(std::bit_cast<std::uint32_t>(special));
  for (std::uint32_t i = 0; words.size() < 1024; ++i) {
    const float value =
        std::ldexp(1 + static_cast<float>(i % 64) / 64, static_cast<int>(i % 41) - 22);
    words.push_back(std::bit_cast<std::uint32_t>(i % 3 == 0 ? -value : value));
  }
  return words;
}

const Shape one_each{.grid = {4}, .block = {256}};

std::vector<std::uint32_t> converted(const std::string& conversion) {
  return run_u32(element("%in", 4) + "ld.global.u32 %r3, [%l31]; mov.b32 %f1, %r3;\n" + conversion +
                     store_u32("%out", "%r5"),
                 one_each, operands(), 1, "", 89);
}

TEST(ConversionF8, OfTwoFloats) {
  for (const F8& f8 : formats) {
    for (const bool relu : {false, true}) {
      SCOPED_TRACE(std::string(f8.name) + (relu ? " relu" : ""));
      const auto out =
          converted("neg.f32 %f2, %f1; cvt.rn.satfinite" + std::string(relu ? ".relu." : ".") +
                    f8.name + ".f32 %h1, %f1, %f2; cvt.u32.u16 %r5, %h1;\n");
      const auto in = operands();
      for (std::size_t i = 0; i < in.size(); ++i) {
        const auto x = static_cast<double>(std::bit_cast<float>(in[i]));
        const auto expected = [&](double v) { return f8.nearest(relu && v <= 0 ? 0.0 : v); };
        ASSERT_EQ(out[i], expected(x) << 8 | expected(-x)) << x;
      }
    }
  }
}

TEST(ConversionF8, OfHalvesAndBack) {
  for (const F8& f8 : formats) {
    SCOPED_TRACE(f8.name);
    // The low half is the operand in f16, the high one its negative.
    const auto out = converted(
        "cvt.rn.f16.f32 %h1, %f1; neg.f32 %f2, %f1; cvt.rn.f16.f32 %h2, %f2;\n"
        "mov.b32 %r4, {%h1, %h2}; cvt.rn.satfinite." +
        std::string(f8.name) + ".f16x2 %h3, %r4; cvt.rn.f16x2." + f8.name +
        " %r6, %h3;\n"
        "mov.b32 {%h4, %h5}, %r6; cvt.f32.f16 %f3, %h4; mov.b32 %r5, %f3;\n");
    const auto in = operands();
    for (std::size_t i = 0; i < in.size(); ++i) {
      const float x = std::bit_cast<float>(in[i]);
      const auto half = static_cast<double>(static_cast<_Float16>(x));
      const unsigned code = f8.nearest(half);
      const double back = std::copysign(f8.value(code & 0x7f), half);
      const float result = std::bit_cast<float>(out[i]);
      if (std::isnan(back)) {
        ASSERT_TRUE(std::isnan(result)) << x;
      } else {
        ASSERT_EQ(result, back) << x;
      }
    }
  }
}

TEST(ConversionF8, NeedsComputeCapability89) {
  Device device;
  const auto caught = caught_from([&] {
    Kernels kernels(device,
                    module_head("sm_80") + kernel({"out"}, "cvt.rn.f16x2.e4m3x2 %r1, %h1;\n"));
    kernels.run("test", {.grid = {1}, .block = {1}}, device.allocate(4));
  });
  EXPECT_TRUE(caught.any);
  EXPECT_NE(caught.text.find("8.9"), std::string::npos) << caught.text;
}

}  // namespace
}  // namespace emulator::test
