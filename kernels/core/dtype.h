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
#include "kernels/core/bool8.h"
#include "kernels/core/float16.h"
#include "kernels/core/float8.h"

namespace assay {

/// Types of the elements of tensors. Their text names are those of the enumerators, and "bool".
enum class DType : std::uint8_t {
  f64,
  f32,
  bf16,
  f16,
  i64,
  i32,
  i8,
  u8,
  e4m3,
  e5m2,
  // Those that are only converted from and to.
  i16,
  u16,
  u32,
  u64,
  boolean,
};

std::span<const DType> all_dtypes();
/// Those that other ops than conversions take too.
std::span<const DType> computed_dtypes();
std::string_view name(DType dtype);
/// Takes the names of NumPy and PyTorch as well: "float32", "half".
std::optional<DType> parse_dtype(std::string_view text);
std::size_t size_bytes(DType dtype);
bool is_floating(DType dtype);

/// Significand bits p, including the implicit one (f32: 24). Integers: bits of their magnitude.
int precision_bits(DType dtype);

/// Type in which sums over `dtype` are kept: f32 for the floats of 16 bits and fewer, i32 for i8,
/// else the dtype itself.
DType accumulator(DType dtype);

/// Exponents of the smallest normal number, -126 for f32, and of the largest, 127. Floats only.
int smallest_exponent(DType dtype);
int largest_exponent(DType dtype);

/// u = 2^-p, the unit roundoff under round-to-nearest; 0 for integers, whose arithmetic is exact.
double unit_roundoff(DType dtype);

/// True if T is stored in 16 or 8 bits and computed with in f32.
template <class T>
inline constexpr bool is_narrow_float =
    std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16> || std::is_same_v<T, Float8E4M3> ||
    std::is_same_v<T, Float8E5M2>;

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || is_narrow_float<T>;

/// True of the C++ types that store one of computed_dtypes().
template <class T>
inline constexpr bool is_computed =
    !std::is_same_v<T, std::int16_t> && !std::is_same_v<T, std::uint16_t> &&
    !std::is_same_v<T, std::uint32_t> && !std::is_same_v<T, std::uint64_t> &&
    !std::is_same_v<T, Bool8>;

/// Converts any element to double: exact for every type but the integers of 64 bits.
template <class T>
double widen(T value) {
  if constexpr (is_narrow_float<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

/// Calls `f(std::type_identity<T>{})` with the C++ type that stores `dtype`, one of
/// computed_dtypes().
template <class F>
decltype(auto) visit_computed(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return std::forward<F>(f)(std::type_identity<double>{});
    case DType::f32:
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
      return std::forward<F>(f)(std::type_identity<std::uint8_t>{});
    case DType::e4m3:
      return std::forward<F>(f)(std::type_identity<Float8E4M3>{});
    case DType::e5m2:
      return std::forward<F>(f)(std::type_identity<Float8E5M2>{});
    default:
      __builtin_unreachable();
  }
}

/// Likewise, with any dtype.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::i16:
      return std::forward<F>(f)(std::type_identity<std::int16_t>{});
    case DType::u16:
      return std::forward<F>(f)(std::type_identity<std::uint16_t>{});
    case DType::u32:
      return std::forward<F>(f)(std::type_identity<std::uint32_t>{});
    case DType::u64:
      return std::forward<F>(f)(std::type_identity<std::uint64_t>{});
    case DType::boolean:
      return std::forward<F>(f)(std::type_identity<Bool8>{});
    default:
      return visit_computed(dtype, std::forward<F>(f));
  }
}

}  // namespace assay
