#include "kernels/core/product_format.h"

#include <array>
#include <cstddef>

namespace assay {
namespace {

/// Three parts that are rounded to nearest have different signs: |x1| + |x2| + |x3| is at most |x|
/// times this.
constexpr double magnitude_of_three = 1 + 0x1p-7 + 0x1p-15;

using enum DType;

constexpr std::array table{
    ProductTraits{ProductFormat::tf32, "tf32", f32, f32, f32, 11},
    ProductTraits{ProductFormat::bf16x9, "bf16x9", f32, f32, f32, 24, 9,
                  magnitude_of_three* magnitude_of_three},
    ProductTraits{.format = ProductFormat::mxfp8,
                  .name = "mxfp8",
                  .stored = u8,
                  .accumulator = f32,
                  .result = bf16,
                  .precision_bits = 4,
                  .blocks = BlockFormat{.block = 32,
                                        .elements_per_byte = 1,
                                        .has_e4m3_scales = false,
                                        .largest_integer = 16}},
    ProductTraits{.format = ProductFormat::mxfp4,
                  .name = "mxfp4",
                  .stored = u8,
                  .accumulator = f32,
                  .result = bf16,
                  .precision_bits = 2,
                  .blocks = BlockFormat{.block = 32,
                                        .elements_per_byte = 2,
                                        .has_e4m3_scales = false,
                                        .largest_integer = 6}},
    ProductTraits{.format = ProductFormat::nvfp4,
                  .name = "nvfp4",
                  .stored = u8,
                  .accumulator = f32,
                  .result = bf16,
                  .precision_bits = 2,
                  .blocks = BlockFormat{.block = 16,
                                        .elements_per_byte = 2,
                                        .has_e4m3_scales = true,
                                        .largest_integer = 6}},
};

}  // namespace

std::span<const ProductTraits> product_formats() { return table; }

const ProductTraits& traits(ProductFormat format) {
  return table.at(static_cast<std::size_t>(format));
}

}  // namespace assay
