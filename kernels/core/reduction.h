#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/core/dtype.h"

namespace assay {

/// Combines the elements of two processes into one.
struct Reduction {
  DType dtype = DType::f32;
  /// "sum" or "prod" if the library's own reduction may be used; else empty.
  std::string_view native;
  /// Combines n elements: y[i] = a[i] with b[i]. y may be a or b.
  void (*combine)(void* y, const void* a, const void* b, std::size_t n) = nullptr;
};

}  // namespace assay
