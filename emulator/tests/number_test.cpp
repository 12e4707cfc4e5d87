#include "emulator/numbers/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace emulator {
namespace {

constexpr FloatFormat formats[] = {binary16, bfloat16, e4m3, e5m2};

TEST(Number, EncodesWhatItDecodes) {
  for (const FloatFormat& format : formats) {
    const std::uint32_t codes = 1U << (1 + format.exponent_bits + format.fraction_bits);
    for (std::uint32_t code = 0; code < codes; ++code) {
      const float value = decode(code, format);
      if (std::isnan(value)) continue;
      if (std::isinf(value) && format.saturates) continue;
      EXPECT_EQ(encode(value, format), code) << value;
    }
  }
}

TEST(Number, RoundsTiesToEvenAndCarriesIntoTheExponent) {
  for (const FloatFormat& format : formats) {
    // Between each two neighbours: the middle goes to the even code, and what is next to it to its
    // own side.
    const std::uint32_t largest = encode(1e30, format);
    for (std::uint32_t code = 0; code + 2 < largest; ++code) {
      const double low = decode(code, format);
      const double high = decode(code + 1, format);
      const double middle = (low + high) / 2;
      EXPECT_EQ(encode(middle, format), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(encode(std::nextafter(middle, 0), format), code);
      EXPECT_EQ(encode(std::nextafter(middle, 1e30), format), code + 1);
    }
  }
}

TEST(Number, KnowsTheLargestNumbersAndWhatLiesBeyond) {
  EXPECT_EQ(decode(0x7bff, binary16), 65504.0F);
  EXPECT_EQ(encode(65520.0, binary16), 0x7c00U) << "infinity";
  EXPECT_EQ(encode(65519.0, binary16), 0x7bffU);
  EXPECT_EQ(decode(0x7e, e4m3), 448.0F);
  EXPECT_EQ(encode(1e6, e4m3), 0x7eU) << "saturates";
  EXPECT_EQ(decode(0x7b, e5m2), 57344.0F);
  EXPECT_EQ(encode(-1e6, e5m2), 0xfbU) << "saturates";
  EXPECT_TRUE(std::isnan(decode(0x7f, e4m3)));
  EXPECT_TRUE(std::isnan(decode(0x7f, e5m2)));
  EXPECT_TRUE(std::isinf(decode(0x7c, e5m2)));
  for (const FloatFormat& format : formats) {
    EXPECT_TRUE(std::isnan(decode(encode(std::nan(""), format), format)));
    EXPECT_EQ(encode(1e-300, format), 0U);
    EXPECT_TRUE(std::signbit(decode(encode(-1e-300, format), format)));
  }
}

TEST(Number, CutsTf32TowardZero) {
  EXPECT_EQ(truncated_to_tf32(1.0F + 0x1p-10F), 1.0F + 0x1p-10F);
  EXPECT_EQ(truncated_to_tf32(1.0F + 0x1p-11F + 0x1p-12F), 1.0F);
  EXPECT_EQ(truncated_to_tf32(-1.0F - 0x1p-11F), -1.0F);
  EXPECT_TRUE(std::isnan(truncated_to_tf32(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace emulator
