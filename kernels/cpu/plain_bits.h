#pragma once

#include <cstdint>
#include <type_traits>

namespace assay::cpu {

/// Storage of a float of 32 or 16 bits. GCC 12 vectorises loops over plain integers, but not over
/// the structs of 16-bit floats.
template <class T>
using Bits = std::conditional_t<std::is_same_v<T, float>, float, std::uint16_t>;

template <class T>
float number(Bits<T> bits) {
  if constexpr (std::is_same_v<T, float>) {
    return bits;
  } else {
    T number;
    number.bits = bits;
    return static_cast<float>(number);
  }
}

}  // namespace assay::cpu
