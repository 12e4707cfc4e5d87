// Rounding to the output's type, checked against exhaustive or wider arithmetic.
#include "harness/oracle/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/core/philox.h"

namespace assay::oracle {
namespace {

TEST(CorrectlyRounded, ATieInTheDoubleIsDecidedByTheRest) {
  const double tie = 1.0 + 0x1p-24;  // halfway between two floats
  EXPECT_EQ(correctly_rounded<float>(tie, 0), 1.0F);
  EXPECT_EQ(correctly_rounded<float>(tie, 0x1p-80), 1.0F + 0x1p-23F);
  EXPECT_EQ(correctly_rounded<float>(tie, -0x1p-80), 1.0F);
  const double odd_tie = 1.0 + 3 * 0x1p-24;
  EXPECT_EQ(correctly_rounded<float>(odd_tie, 0), 1.0F + 0x1p-22F);
  EXPECT_EQ(correctly_rounded<float>(odd_tie, -0x1p-80), 1.0F + 0x1p-23F);
}

TEST(CorrectlyRounded, BFloat16IsNotRoundedTwice) {
  // Exceeds the tie by less than f32 resolves: through f32 it would become the tie and go down.
  const double above = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(static_cast<float>(BFloat16(static_cast<float>(above))), 1.0F) << "the wrong way";
  EXPECT_EQ(static_cast<float>(correctly_rounded<BFloat16>(above, 0)), 1.0F + 0x1p-7F);
  EXPECT_EQ(static_cast<float>(correctly_rounded<BFloat16>(1.0 + 0x1p-8, 0x1p-70)), 1.0F + 0x1p-7F);
  EXPECT_EQ(static_cast<float>(correctly_rounded<BFloat16>(1.0 + 0x1p-8, 0)), 1.0F);
}

TEST(CorrectlyRounded, OverflowAndSubnormalsFollowIeee) {
  const double largest = std::numeric_limits<float>::max();
  EXPECT_EQ(correctly_rounded<float>(largest + 0x1p102, 0), std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isinf(correctly_rounded<float>(largest + 0x1p103, 0))) << "tie to even: up";
  EXPECT_EQ(correctly_rounded<float>(0x1p-150, 0), 0.0F) << "tie to even: down";
  EXPECT_EQ(correctly_rounded<float>(0x1p-150, 0x1p-220), 0x1p-149F);
  EXPECT_TRUE(std::isinf(static_cast<float>(correctly_rounded<BFloat16>(largest, 0))));
  EXPECT_TRUE(std::isnan(correctly_rounded<float>(std::nan(""), 0)));
}

TEST(CorrectlyRounded, AgreesWithLongDoubleOnRandomSums) {
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random_bits(1, 0, i);
    const double value = std::ldexp(1.0 + static_cast<double>(bits >> 12) * 0x1p-52,
                                    static_cast<int>(bits % 200) - 100);
    // A rest that a sum of 64 bits still holds exactly.
    const double rest = std::ldexp(static_cast<double>(bits & 7) - 3.5, std::ilogb(value) - 58);
    const auto exact = static_cast<long double>(value) + rest;
    ASSERT_EQ(correctly_rounded<float>(value, rest), static_cast<float>(exact)) << i;
  }
}

TEST(Ulp, IsTheSpacingOfTheType) {
  EXPECT_EQ(ulp(1.0, DType::f32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(ulp(-1.5, DType::f64), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(ulp(1.0, DType::bf16), 0x1p-7);
  EXPECT_EQ(ulp(0.0, DType::f32), 0x1p-149);
  EXPECT_EQ(ulp(0x1p-140, DType::f32), 0x1p-149) << "subnormals are evenly spaced";
}

}  // namespace
}  // namespace assay::oracle
