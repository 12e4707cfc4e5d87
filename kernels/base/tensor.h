#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "kernels/base/dtype.h"

namespace assay {

/// Extents of a dense row-major tensor, outermost first. An empty shape is a scalar.
using Shape = std::vector<std::int64_t>;

inline std::int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// What a tensor is, apart from where its elements lie.
struct TensorSpec {
  DType dtype = DType::f32;
  Shape shape;

  std::int64_t elements() const { return element_count(shape); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_bytes(dtype); }
};

}  // namespace assay
