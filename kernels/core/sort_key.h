#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/core/bfloat16.h"
#include "kernels/core/element_functions.h"
#include "kernels/core/float16.h"

// Keys of elements: unsigned integers in the order of a sort, for CPUs and GPUs. References do not
// use them.
namespace assay {

template <std::size_t Bytes>
using Word = std::conditional_t<
    Bytes == 8, std::uint64_t,
    std::conditional_t<Bytes == 4, std::uint32_t,
                       std::conditional_t<Bytes == 2, std::uint16_t, std::uint8_t>>>;

template <class W>
inline constexpr W sign_bit = static_cast<W>(W{1} << (8 * sizeof(W) - 1));

/// Bits of infinity: all of the exponent.
template <class T>
inline constexpr Word<sizeof(T)> infinity_bits = [] {
  using W = Word<sizeof(T)>;
  constexpr int stored_significand = std::is_same_v<T, double>    ? 52
                                     : std::is_same_v<T, float>   ? 23
                                     : std::is_same_v<T, Float16> ? 10
                                                                  : 7;
  constexpr auto magnitude = static_cast<W>(sign_bit<W> - 1);
  return static_cast<W>(magnitude >> stored_significand << stored_significand);
}();

/// Key of every NaN, and of the greatest integer.
template <class W>
inline constexpr W greatest_key = std::numeric_limits<W>::max();

/// Maps the bits of a T to an unsigned integer of the same order. Negative floats are reversed.
/// NaN, which compares with nothing, is the greatest.
template <class T>
ASSAY_ELEMENT_FUNCTION Word<sizeof(T)> key_of(Word<sizeof(T)> bits) {
  using W = Word<sizeof(T)>;
  constexpr W sign = sign_bit<W>;
  if constexpr (std::is_unsigned_v<T>) {
    return bits;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<W>(bits ^ sign);
  } else {
    if (static_cast<W>(bits & ~sign) > infinity_bits<T>) return greatest_key<W>;
    return static_cast<W>((bits & sign) != 0 ? ~bits : bits ^ sign);
  }
}

template <class T>
ASSAY_ELEMENT_FUNCTION Word<sizeof(T)> bits_of_key(Word<sizeof(T)> key) {
  using W = Word<sizeof(T)>;
  constexpr W sign = sign_bit<W>;
  if constexpr (std::is_integral_v<T>) {
    return key_of<T>(key);
  } else {
    return static_cast<W>((key & sign) != 0 ? key ^ sign : ~key);
  }
}

/// Gives both zeros, which are equal, one key.
template <class T>
ASSAY_ELEMENT_FUNCTION Word<sizeof(T)> key_of_equals(Word<sizeof(T)> bits) {
  using W = Word<sizeof(T)>;
  if constexpr (std::is_integral_v<T>) {
    return key_of<T>(bits);
  } else {
    return key_of<T>(bits == sign_bit<W> ? W{0} : bits);
  }
}

/// True for a key whose elements equal nothing, nor each other.
template <class T>
ASSAY_ELEMENT_FUNCTION bool is_key_of_nan(Word<sizeof(T)> key) {
  return !std::is_integral_v<T> && key == greatest_key<Word<sizeof(T)>>;
}

}  // namespace assay
