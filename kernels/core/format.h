#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "kernels/core/block_format.h"
#include "kernels/core/dtype.h"
#include "kernels/core/product_format.h"

namespace assay {

/// Format that a case computes in: the DType of its tensors, or a product format. Files and options
/// call it "dtype".
class Format {
 public:
  Format() = default;
  constexpr Format(DType dtype) : value_(dtype) {}            // NOLINT: each is one
  constexpr Format(ProductFormat format) : value_(format) {}  // NOLINT: each is one

  /// Null for a DType.
  const ProductTraits* product() const;
  /// DType of the tensors of factors, or of all tensors.
  DType stored() const;

  auto operator<=>(const Format&) const = default;

 private:
  std::variant<DType, ProductFormat> value_;
};

std::span<const Format> all_formats();
std::string_view name(Format format);
/// Takes a name of parse_dtype or of a product format.
std::optional<Format> parse_format(std::string_view text);

/// True also for block-scaled formats, whose elements are floats.
bool is_floating(Format format);
/// Significand bits of an element, or of a factor as it is used.
int precision_bits(Format format);
double unit_roundoff(Format format);
/// DType of the sums of products.
DType accumulator(Format format);
/// DType of the result and of the bias of a product: i32 for i8, bf16 for e4m3 and block-scaled
/// formats, else that of the factors.
DType result_dtype(Format format);
/// True if a factor is multiplied in several parts.
bool splits_factors(Format format);
/// Null for formats that are not block-scaled.
const BlockFormat* block_format(Format format);

}  // namespace assay
