// Block-scaled formats: every code against the reference's own decoding, roundings, whole rows.
#include "kernels/core/block_format.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/block_values.h"

namespace assay {
namespace {

constexpr std::array block_scaled{ProductFormat::mxfp8, ProductFormat::mxfp4, ProductFormat::nvfp4};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(BlockFormat, IsOfBlockScaledFormatsAlone) {
  for (const Format format : all_formats()) {
    EXPECT_EQ(block_format(format) != nullptr, reference::is_block_scaled(format)) << name(format);
  }
  EXPECT_EQ(block_format(ProductFormat::mxfp8)->block, 32);
  EXPECT_EQ(block_format(ProductFormat::mxfp4)->block, 32);
  EXPECT_EQ(block_format(ProductFormat::nvfp4)->block, 16);
}

TEST(BlockFormat, EachCodeHasTheValueOfTheSpecification) {
  for (const ProductFormat product : block_scaled) {
    const BlockFormat& format = *block_format(product);
    const bool is_packed = format.elements_per_byte == 2;
    for (unsigned code = 0; code < (is_packed ? 16 : 256); ++code) {
      const auto bits = static_cast<std::uint8_t>(code);
      const double value = is_packed ? reference::e2m1_value(code) : reference::e4m3_value(bits);
      EXPECT_TRUE(same(block_element(format, bits), value)) << name(product) << ' ' << code;
    }
    for (unsigned code = 0; code < 256; ++code) {
      const auto bits = static_cast<std::uint8_t>(code);
      const double value =
          format.has_e4m3_scales ? reference::e4m3_value(bits % 128) : reference::e8m0_value(bits);
      EXPECT_TRUE(same(block_scale(format, bits), value)) << name(product) << ' ' << code;
    }
  }
}

TEST(BlockFormat, PowersOfTwoHaveScales) {
  for (const ProductFormat product : block_scaled) {
    const BlockFormat& format = *block_format(product);
    const int lowest = format.has_e4m3_scales ? -9 : -127;
    const int highest = format.has_e4m3_scales ? 8 : 127;
    for (int exponent = lowest; exponent <= highest; ++exponent) {
      EXPECT_EQ(block_scale(format, block_scale_code(format, exponent)),
                std::ldexp(1.0F, exponent));
    }
  }
}

TEST(BlockFormat, E2M1RoundsToNearestEvenAndSaturates) {
  const BlockFormat& format = *block_format(ProductFormat::mxfp4);
  const auto rounded = [&](float x) {
    return block_element(format, block_element_code(format, x));
  };
  for (const float x : {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F}) {
    EXPECT_EQ(rounded(x), x);
    EXPECT_EQ(rounded(-x), -x);
  }
  EXPECT_EQ(rounded(0.25F), 0.0F);
  EXPECT_EQ(rounded(0.75F), 1.0F);
  EXPECT_EQ(rounded(1.25F), 1.0F);
  EXPECT_EQ(rounded(1.75F), 2.0F);
  EXPECT_EQ(rounded(2.5F), 2.0F);
  EXPECT_EQ(rounded(3.5F), 4.0F);
  EXPECT_EQ(rounded(5.0F), 4.0F);
  EXPECT_EQ(rounded(std::nextafter(5.0F, 6.0F)), 6.0F);
  EXPECT_EQ(rounded(1e9F), 6.0F);
  EXPECT_EQ(rounded(-std::numeric_limits<float>::infinity()), -6.0F);
  EXPECT_EQ(rounded(std::numeric_limits<float>::quiet_NaN()), 6.0F);
}

TEST(BlockFormat, RowsTakeTheirBlocksScalesAndTheLowHalfFirst) {
  const BlockFormat& format = *block_format(ProductFormat::nvfp4);
  std::vector<std::uint8_t> elements(16, 0x00);        // 32 elements, two blocks
  elements[0] = 0x42;                                  // 1 and 2
  elements[8] = 0xd2;                                  // 1 and -3, of the second block
  const std::vector<std::uint8_t> scales{0x38, 0x44};  // 1 and 3
  std::vector<float> values(32);
  dequantize(format, elements.data(), scales.data(), values);
  EXPECT_EQ(values[0], 1.0F);
  EXPECT_EQ(values[1], 2.0F);
  EXPECT_EQ(values[16], 3.0F);
  EXPECT_EQ(values[17], -9.0F);
  const auto expected = reference::block_values(ProductFormat::nvfp4, elements, scales, 32);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], expected[i]) << i;
}

}  // namespace
}  // namespace assay
