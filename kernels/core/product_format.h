#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/core/block_format.h"
#include "kernels/core/dtype.h"

namespace assay {

/// How matrix units multiply factors that are stored as something else. tf32: factors are used to
/// 11 significand bits. bf16x9: each is split into three bf16 numbers, whose nine products are
/// summed in f32. The others are block-scaled: a factor is two tensors of bytes, elements and
/// scales.
enum class ProductFormat : std::uint8_t { tf32, bf16x9, mxfp8, mxfp4, nvfp4 };

/// Properties of a product format. Rules of oracles, exact data and kernels follow from it.
struct ProductTraits {
  ProductFormat format;
  std::string_view name;
  DType stored;        // of the tensors of factors
  DType accumulator;   // of sums
  DType result;        // of the result and the bias
  int precision_bits;  // of a factor, or of an element of a block
  /// Products of parts that make one product, and an upper bound of the sum of their magnitudes as
  /// a multiple of the product's.
  int parts = 1;
  double parts_magnitude = 1;
  std::optional<BlockFormat> blocks = {};
};

std::span<const ProductTraits> product_formats();
const ProductTraits& traits(ProductFormat format);

}  // namespace assay
