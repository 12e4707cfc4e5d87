#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/core/dtype.h"

namespace assay {

/// How elements of two processes become one.
struct Reduction {
  DType dtype = DType::f32;
  /// "sum" or "prod" where the library's own may be taken; else empty.
  std::string_view native;
  /// y[i] = a[i] with b[i], for n elements; y may be a or b.
  void (*combine)(void* y, const void* a, const void* b, std::size_t n) = nullptr;
};

}  // namespace assay
