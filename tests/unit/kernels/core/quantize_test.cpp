// Conversion to block-scaled formats, by examples worked out by hand.
#include "kernels/core/quantize.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

using Mxfp8 = Microscaling<false>;
using Mxfp4 = Microscaling<true>;

TEST(Quantize, TheExponentOfANormalNumberIsThatOfItsHighestBit) {
  EXPECT_EQ(exponent_of(1), 0);
  EXPECT_EQ(exponent_of(0x1.fffffep0F), 0);
  EXPECT_EQ(exponent_of(0x1p127F), 127);
  EXPECT_EQ(exponent_of(0x1p-126F), -126);
  EXPECT_EQ(exponent_of(0x1p-149F), -127);
  EXPECT_EQ(exponent_of(0), -127);
}

TEST(Quantize, ScalesOfMicroscalingAreRoundedDown) {
  EXPECT_EQ(Mxfp8(448).scale, 127);
  EXPECT_EQ(Mxfp8(511).scale, 127) << "448 is the largest element, but 2^8 the power that counts";
  EXPECT_EQ(Mxfp8(512).scale, 128);
  EXPECT_EQ(Mxfp4(7).scale, 127);
  EXPECT_EQ(Mxfp4(0x1p127F).scale, 252);
  EXPECT_EQ(Mxfp4(0).scale, 0);
  EXPECT_EQ(Mxfp8(0x1p-149F).scale, 0) << "2^-157 is out of range";
}

TEST(Quantize, ElementsOfMicroscalingRoundToNearestEvenAndSaturate) {
  const Mxfp8 eight(511);
  EXPECT_EQ(eight.element(511), 0x7e) << "448";
  EXPECT_EQ(eight.element(-1), 0xb8);
  EXPECT_EQ(eight.element(-0.0F), 0x80);
  EXPECT_EQ(Mxfp8(0).element(0), 0);
  const Mxfp4 four(7);
  for (const auto& [number, code] :
       {std::pair{0.25F, 0}, {0.75F, 2}, {1.25F, 2}, {1.75F, 4}, {2.5F, 4}, {3.5F, 6}, {5.F, 6}}) {
    EXPECT_EQ(half_byte(four.element(number)), code) << number << " is in the middle";
    EXPECT_EQ(half_byte(four.element(-number)), code + 8) << -number;
  }
  EXPECT_EQ(half_byte(four.element(7)), 7);
}

TEST(Quantize, Nvfp4ScalesBySixths) {
  EXPECT_EQ(Nvfp4(6).scale, 0x38) << "1";
  EXPECT_EQ(half_byte(Nvfp4(6).element(5)), 6) << "in the middle of 4 and 6";
  EXPECT_EQ(Nvfp4(1e30F).scale, 0x7e) << "448";
  EXPECT_EQ(half_byte(Nvfp4(1e30F).element(-1e30F)), 15);
  const Nvfp4 tiny(0x1p-20F);
  EXPECT_EQ(tiny.scale, 0) << "less than half of 2^-9";
  EXPECT_EQ(half_byte(tiny.element(-0x1p-20F)), 8) << "a zero";
  // 1.0625 is the middle between 1 and 1.125: the even one.
  EXPECT_EQ(Nvfp4(6.375F).scale, 0x38);
  EXPECT_EQ(Nvfp4(0x1.980002p2F).scale, 0x39) << "just above";
}

}  // namespace
}  // namespace assay
