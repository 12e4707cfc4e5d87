#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/core/format.h"
#include "kernels/reference/float8.h"

// Block-scaled formats by their definitions, from the bits alone: uses none of the backends'
// conversions. "OCP Microscaling Formats (MX) Specification", version 1.0, 2023, sections 5.3 and
// 5.4; nvfp4 as cuBLAS documents it: E2M1 in blocks of 16 with scales of E4M3 that have no sign.
namespace assay::reference {

inline bool is_block_scaled(Format format) {
  return format == ProductFormat::mxfp8 || format == ProductFormat::mxfp4 ||
         format == ProductFormat::nvfp4;
}

inline double e4m3_value(std::uint8_t code) {
  Float8E4M3 x;
  x.bits = code;
  return float8_value(x);
}

/// The eight magnitudes of E2M1; the fourth bit is the sign.
inline double e2m1_value(unsigned code) {
  constexpr std::array magnitudes{0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
  const double magnitude = magnitudes.at(code % 8);
  return code >= 8 ? -magnitude : magnitude;
}

/// Biased exponent alone; the last code is NaN.
inline double e8m0_value(std::uint8_t code) {
  return code == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
}

/// Values of the first `count` elements, whole rows. Exact in double.
inline std::vector<double> block_values(Format format, std::span<const std::uint8_t> elements,
                                        std::span<const std::uint8_t> scales, std::size_t count) {
  const std::size_t block = format == ProductFormat::nvfp4 ? 16 : 32;
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t scale = scales[i / block];
    const double factor =
        format == ProductFormat::nvfp4 ? e4m3_value(scale % 128) : e8m0_value(scale);
    const double element = format == ProductFormat::mxfp8
                               ? e4m3_value(elements[i])
                               : e2m1_value(elements[i / 2] / (i % 2 == 0 ? 1U : 16U) % 16);
    values[i] = element * factor;
  }
  return values;
}

}  // namespace assay::reference
