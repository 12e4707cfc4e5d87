#include "kernels/core/block_format.h"

#include <bit>
#include <cmath>
#include <cstddef>

#include "kernels/core/float8.h"
#include "kernels/core/quantize.h"

namespace assay {
namespace {

constexpr std::uint8_t e8m0_nan = 0xff;
constexpr int e8m0_bias = 127;

}  // namespace

float block_element(const BlockFormat& format, std::uint8_t code) {
  if (format.elements_per_byte == 1) return float8::decode<Float8E4M3::format>(code);
  return float8::decode<e2m1>(static_cast<std::uint8_t>((code & 7U) | (code & 8U) << 4));
}

std::uint8_t block_element_code(const BlockFormat& format, float value) {
  if (format.elements_per_byte == 1) return float8::encode<Float8E4M3::format>(value);
  return static_cast<std::uint8_t>(half_byte(float8::encode<e2m1>(value)));
}

float block_scale(const BlockFormat& format, std::uint8_t code) {
  if (format.has_e4m3_scales) {
    return float8::decode<Float8E4M3::format>(static_cast<std::uint8_t>(code & 0x7fU));
  }
  if (code == e8m0_nan) return std::bit_cast<float>(0x7fc00000U);
  return std::ldexp(1.0F, code - e8m0_bias);
}

std::uint8_t block_scale_code(const BlockFormat& format, int exponent) {
  if (format.has_e4m3_scales) {
    return float8::encode<Float8E4M3::format>(std::ldexp(1.0F, exponent));
  }
  return static_cast<std::uint8_t>(exponent + e8m0_bias);
}

void dequantize(const BlockFormat& format, const std::uint8_t* elements, const std::uint8_t* scales,
                std::span<float> values) {
  const auto block = static_cast<std::size_t>(format.block);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_packed = format.elements_per_byte == 2;
    const std::uint8_t byte = elements[is_packed ? i / 2 : i];
    const bool is_high = is_packed && i % 2 == 1;
    const auto code = static_cast<std::uint8_t>(is_high ? byte >> 4U : byte);
    values[i] = block_element(format, code) * block_scale(format, scales[i / block]);
  }
}

}  // namespace assay
