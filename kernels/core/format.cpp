#include "kernels/core/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace assay {

const ProductTraits* Format::product() const {
  const auto* format = std::get_if<ProductFormat>(&value_);
  return format == nullptr ? nullptr : &traits(*format);
}

DType Format::stored() const {
  const ProductTraits* format = product();
  return format == nullptr ? std::get<DType>(value_) : format->stored;
}

std::span<const Format> all_formats() {
  static const std::vector<Format> formats = [] {
    std::vector<Format> list(all_dtypes().begin(), all_dtypes().end());
    for (const ProductTraits& product : product_formats()) list.emplace_back(product.format);
    return list;
  }();
  return formats;
}

std::string_view name(Format format) {
  return format.product() != nullptr ? format.product()->name : name(format.stored());
}

std::optional<Format> parse_format(std::string_view text) {
  const auto found = std::ranges::find(product_formats(), text, &ProductTraits::name);
  if (found != product_formats().end()) return found->format;
  return parse_dtype(text);
}

bool is_floating(Format format) {
  return format.product() != nullptr || is_floating(format.stored());
}

int precision_bits(Format format) {
  return format.product() != nullptr ? format.product()->precision_bits
                                     : precision_bits(format.stored());
}

double unit_roundoff(Format format) {
  return is_floating(format) ? std::ldexp(1.0, -precision_bits(format)) : 0.0;
}

DType accumulator(Format format) {
  return format.product() != nullptr ? format.product()->accumulator : accumulator(format.stored());
}

DType result_dtype(Format format) {
  if (format.product() != nullptr) return format.product()->result;
  if (format == DType::i8) return DType::i32;
  return format == DType::e4m3 ? DType::bf16 : format.stored();
}

bool splits_factors(Format format) {
  return format.product() != nullptr && format.product()->parts > 1;
}

const BlockFormat* block_format(Format format) {
  const ProductTraits* product = format.product();
  return product != nullptr && product->blocks ? &*product->blocks : nullptr;
}

}  // namespace assay
