#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/core/bfloat16.h"
#include "kernels/core/float16.h"
#include "kernels/core/float8.h"

namespace assay {

/// Element types of tensors. Their text names are those of the enumerators. Some exist for products
/// only. tf32: tensors are f32, and factors are used to 11 significand bits. mxfp8, mxfp4 and nvfp4
/// are block-scaled: a tensor is two of bytes, elements and scales (block_format.h). bf16x9:
/// tensors are f32, and each factor is split into three bf16 numbers, whose nine products are
/// summed in f32.
enum class DType : std::uint8_t {
  f64,
  f32,
  bf16,
  f16,
  i64,
  i32,
  i8,
  u8,
  tf32,
  e4m3,
  e5m2,
  mxfp8,
  mxfp4,
  nvfp4,
  bf16x9
};

std::span<const DType> all_dtypes();
std::string_view name(DType dtype);
/// Takes the names of NumPy and PyTorch as well: "float32", "half".
std::optional<DType> parse_dtype(std::string_view text);
std::size_t size_bytes(DType dtype);
bool is_floating(DType dtype);

/// Significand bits p, including the implicit one (f32: 24). Integers: bits of their magnitude.
/// Block-scaled formats: those of an element, and so its exponents below.
int precision_bits(DType dtype);

/// Type in which sums over `dtype` are kept: f32 for tf32, bf16x9 and the floats of 16 bits
/// and fewer, i32 for i8, else the dtype itself.
DType accumulator(DType dtype);

/// Dtype of the tensors that hold the factors of a product of `dtype`: f32 for tf32 and
/// bf16x9, u8 for block-scaled formats, else itself.
DType stored_dtype(DType dtype);
/// Dtype of the result and of the bias of such a product: i32 for i8, bf16 for e4m3 and
/// block-scaled formats, f32 for tf32 and bf16x9, else itself.
DType product_dtype(DType dtype);

/// Exponents of the smallest normal number, -126 for f32, and of the largest, 127. Floats only.
int smallest_exponent(DType dtype);
int largest_exponent(DType dtype);

/// Products of parts that make one product of `dtype`: 9 for bf16x9, else 1.
int partial_products(DType dtype);
/// Upper bound of the sum of their magnitudes, as a multiple of the product's. Parts that are
/// rounded to nearest have different signs: |x1| + |x2| + |x3| <= |x| (1 + 2^-7 + 2^-15).
double partial_magnitude(DType dtype);

/// u = 2^-p, the unit roundoff under round-to-nearest; 0 for integers, whose arithmetic is exact.
double unit_roundoff(DType dtype);

/// True if T is stored in 16 or 8 bits and computed with in f32.
template <class T>
inline constexpr bool is_narrow_float =
    std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16> || std::is_same_v<T, Float8E4M3> ||
    std::is_same_v<T, Float8E5M2>;

/// Converts any element to double: exact for every type but i64.
template <class T>
double widen(T value) {
  if constexpr (is_narrow_float<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

/// Calls `f(std::type_identity<T>{})` with the C++ type that stores `dtype`.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return std::forward<F>(f)(std::type_identity<double>{});
    case DType::f32:
    case DType::tf32:
    case DType::bf16x9:
      return std::forward<F>(f)(std::type_identity<float>{});
    case DType::bf16:
      return std::forward<F>(f)(std::type_identity<BFloat16>{});
    case DType::f16:
      return std::forward<F>(f)(std::type_identity<Float16>{});
    case DType::i64:
      return std::forward<F>(f)(std::type_identity<std::int64_t>{});
    case DType::i32:
      return std::forward<F>(f)(std::type_identity<std::int32_t>{});
    case DType::i8:
      return std::forward<F>(f)(std::type_identity<std::int8_t>{});
    case DType::u8:
    case DType::mxfp8:
    case DType::mxfp4:
    case DType::nvfp4:
      return std::forward<F>(f)(std::type_identity<std::uint8_t>{});
    case DType::e4m3:
      return std::forward<F>(f)(std::type_identity<Float8E4M3>{});
    case DType::e5m2:
      return std::forward<F>(f)(std::type_identity<Float8E5M2>{});
  }
  __builtin_unreachable();
}

}  // namespace assay
