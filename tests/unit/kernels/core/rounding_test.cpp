// The rounding of a b + c to odd by the three directed roundings that GPUs have instructions for.
#include "kernels/core/rounding.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "kernels/core/bfloat16.h"
#include "kernels/core/float16.h"

namespace assay {
namespace {

/// Computes with a rounding mode. Never inlined: compilers do not know that the result depends on
/// the mode.
[[gnu::noinline]] float fma_by(int mode, float a, float b, float c) {
  std::fesetround(mode);
  const float result = std::fma(a, b, c);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class T>
std::uint16_t by_directed_roundings(T a, T b, T c) {
  const auto by = [&](int mode) {
    return fma_by(mode, static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  };
  return T(rounded_to_odd(by(FE_TOWARDZERO), by(FE_DOWNWARD) == by(FE_UPWARD))).bits;
}

/// Keeps the error of the sum of the exact product, in doubles.
template <class T>
std::uint16_t by_doubles(T a, T b, T c) {
  const double product =
      static_cast<double>(static_cast<float>(a)) * static_cast<double>(static_cast<float>(b));
  return T(rounded_to_odd(sum_rounded_to_odd(product, static_cast<double>(static_cast<float>(c)))))
      .bits;
}

template <class T>
bool is_nan(std::uint16_t bits) {
  return std::isnan(static_cast<float>(std::bit_cast<T>(bits)));
}

template <class T>
void expect_equal(T a, T b, T c) {
  const std::uint16_t actual = by_directed_roundings(a, b, c);
  const std::uint16_t expected = by_doubles(a, b, c);
  if (is_nan<T>(expected) && is_nan<T>(actual)) return;
  ASSERT_EQ(actual, expected) << std::hex << a.bits << " * " << b.bits << " + " << c.bits;
}

template <class T>
class FusedMultiplyAdd : public testing::Test {};
using NarrowFloats = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(FusedMultiplyAdd, NarrowFloats);

TYPED_TEST(FusedMultiplyAdd, AnyBitsRoundOnce) {
  std::mt19937 random(1);
  for (int i = 0; i < 500'000 && !this->HasFatalFailure(); ++i) {
    const auto any = [&] { return std::bit_cast<TypeParam>(static_cast<std::uint16_t>(random())); };
    const TypeParam a = any();
    expect_equal(a, any(), any());
  }
}

/// Two significands of an odd and an even number of bits give products midway between two results.
TYPED_TEST(FusedMultiplyAdd, AFarSmallerTermDecidesMidways) {
  const auto as = [](float x) { return TypeParam(x); };
  for (int m = 1; m < 1024 && !this->HasFatalFailure(); m += 2) {
    for (int n = 1; n < 64; n += 2) {
      for (const float sign : {1.0F, -1.0F}) {
        for (const float c : {0.0F, 0x1p-14F, -0x1p-14F, 0x1p-24F, -0x1p-24F, 0x1p-133F}) {
          expect_equal(as(sign * static_cast<float>(m)), as(static_cast<float>(n)), as(c));
        }
      }
    }
  }
}

TEST(Rounding, OddValuesTellWhatIsMissing) {
  EXPECT_EQ(rounded_to_odd(1.0F, true), 1.0F);
  EXPECT_EQ(rounded_to_odd(1.0F, false), std::nextafter(1.0F, 2.0F));
  EXPECT_EQ(rounded_to_odd(-1.0F, false), std::nextafter(-1.0F, -2.0F));
  EXPECT_EQ(rounded_to_odd(0.0F, false), 0x1p-149F);
}

TEST(Rounding, OddFloatsOfIntegersTellOfAllTheirBits) {
  EXPECT_EQ(rounded_to_odd(std::uint64_t{1} << 63), 0x1p63F);
  EXPECT_EQ(rounded_to_odd((std::uint64_t{1} << 63) + 1), std::nextafter(0x1p63F, 0x1p64F));
  EXPECT_EQ(rounded_to_odd(~std::uint64_t{0}), std::nextafter(0x1p64F, 0.0F));
  EXPECT_EQ(rounded_to_odd(std::numeric_limits<std::int64_t>::min()), -0x1p63F);
  EXPECT_EQ(rounded_to_odd(-((std::int64_t{1} << 62) + 1)), std::nextafter(-0x1p62F, -0x1p63F));
  EXPECT_EQ(rounded_to_odd(std::int64_t{0}), 0.0F);
  EXPECT_FALSE(std::signbit(rounded_to_odd(std::int64_t{0})));
}

}  // namespace
}  // namespace assay
