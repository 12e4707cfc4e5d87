// The 8-bit floats: every code both ways, every tie between two of them, and what does not fit.
#include "kernels/core/float8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/core/rounding.h"

namespace assay {
namespace {

template <class T>
T of_code(unsigned code) {
  T value;
  value.bits = static_cast<std::uint8_t>(code);
  return value;
}

/// Value of a finite code by the specification.
template <class T>
double by_definition(unsigned code) {
  constexpr int stored = T::format.stored;
  const int exponent = static_cast<int>(code >> stored & (0x7fU >> stored));
  const auto fraction = static_cast<int>(code & ((1U << stored) - 1));
  const double significand = exponent == 0 ? fraction : fraction + (1 << stored);
  const double magnitude = std::ldexp(significand, std::max(exponent, 1) - T::format.bias - stored);
  return code >= 0x80 ? -magnitude : magnitude;
}

template <class T>
class Float8 : public testing::Test {
 protected:
  static constexpr unsigned largest = T::format.largest;
  static unsigned code_of(double x) { return T(static_cast<float>(x)).bits; }
};
using Formats = testing::Types<Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(Float8, Formats);

TYPED_TEST(Float8, EveryFiniteCodeIsItsNumberAndComesBack) {
  for (unsigned code = 0; code < 256; ++code) {
    if ((code & 0x7fU) > this->largest) continue;
    const auto value = static_cast<float>(of_code<TypeParam>(code));
    EXPECT_EQ(value, by_definition<TypeParam>(code)) << code;
    EXPECT_EQ(std::signbit(value), code >= 0x80) << code;
    EXPECT_EQ(this->code_of(value), code) << value;
  }
}

TYPED_TEST(Float8, EveryTieGoesToTheEvenCodeAndItsNeighboursToTheNearest) {
  for (unsigned code = 0; code < this->largest; ++code) {
    const double low = by_definition<TypeParam>(code);
    const double high = by_definition<TypeParam>(code + 1);
    const auto tie = static_cast<float>((low + high) / 2);
    for (const unsigned sign : {0U, 0x80U}) {
      const float signed_tie = sign != 0 ? -tie : tie;
      const float infinity = std::copysign(std::numeric_limits<float>::infinity(), signed_tie);
      EXPECT_EQ(this->code_of(signed_tie), (code % 2 == 0 ? code : code + 1) | sign) << tie;
      EXPECT_EQ(this->code_of(std::nextafter(signed_tie, 0.0F)), code | sign) << tie;
      EXPECT_EQ(this->code_of(std::nextafter(signed_tie, infinity)), (code + 1) | sign) << tie;
    }
  }
}

TYPED_TEST(Float8, WhatIsTooLargeBecomesTheLargestNumber) {
  const double most = by_definition<TypeParam>(this->largest);
  for (const double x : {most * 1.001, most * 1.5, 1e30, double{std::numeric_limits<float>::max()},
                         std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(this->code_of(x), this->largest) << x;
    EXPECT_EQ(this->code_of(-x), this->largest | 0x80U) << x;
  }
}

TYPED_TEST(Float8, WhatIsTooSmallBecomesAZeroOfItsSign) {
  const double least = by_definition<TypeParam>(1);
  for (const double x : {least / 2, least / 3, 0x1p-126, 0x1p-149, 0.0}) {
    EXPECT_EQ(this->code_of(x), 0U) << x;
    EXPECT_EQ(this->code_of(-x), 0x80U) << x;
  }
}

TYPED_TEST(Float8, NaNStaysNaN) {
  for (const float nan : {std::numeric_limits<float>::quiet_NaN(),
                          std::bit_cast<float>(0x7f800001U), std::bit_cast<float>(0xffffffffU)}) {
    EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(nan))));
  }
}

TYPED_TEST(Float8, ADoubleIsRoundedOnceByWayOfAnOddFloat) {
  const double above_tie =
      (by_definition<TypeParam>(40) + by_definition<TypeParam>(41)) / 2 * (1 + 0x1p-50);
  EXPECT_EQ(TypeParam(static_cast<float>(above_tie)).bits, 40) << "rounded twice";
  EXPECT_EQ(TypeParam(rounded_to_odd(above_tie)).bits, 41);
}

TEST(Float8Formats, TheLastCodesAreAsEachFormatHasThem) {
  EXPECT_EQ(static_cast<float>(of_code<Float8E4M3>(0x7e)), 448);
  EXPECT_TRUE(std::isnan(static_cast<float>(of_code<Float8E4M3>(0x7f))));
  EXPECT_TRUE(std::isnan(static_cast<float>(of_code<Float8E4M3>(0xff))));
  EXPECT_EQ(static_cast<float>(of_code<Float8E5M2>(0x7b)), 57344);
  EXPECT_EQ(static_cast<float>(of_code<Float8E5M2>(0x7c)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(static_cast<float>(of_code<Float8E5M2>(0xfc)), -std::numeric_limits<float>::infinity());
  for (const unsigned nan : {0x7dU, 0x7eU, 0x7fU, 0xfdU, 0xfeU, 0xffU}) {
    EXPECT_TRUE(std::isnan(static_cast<float>(of_code<Float8E5M2>(nan)))) << nan;
  }
}

}  // namespace
}  // namespace assay
