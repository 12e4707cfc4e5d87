#pragma once

#include <limits>
#include <type_traits>

#include "kernels/core/dtype.h"

namespace assay {

/// Significand bits of a floating storage type, including the implicit leading one: a constant that
/// equals precision_bits of its dtype. 1 for integers and truth values: they store none.
template <class T>
constexpr int significand_bits() {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return 8;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return 11;
  } else if constexpr (std::is_same_v<T, Float8E4M3>) {
    return 4;
  } else if constexpr (std::is_same_v<T, Float8E5M2>) {
    return 3;
  } else if constexpr (!is_float<T>) {
    return 1;
  } else {
    return std::numeric_limits<T>::digits;
  }
}

}  // namespace assay
