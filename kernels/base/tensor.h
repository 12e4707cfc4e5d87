#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/base/dtype.h"

namespace assay {

/// Extents of a dense row-major tensor, outermost first. An empty shape is a scalar.
using Shape = std::vector<std::int64_t>;

/// Saturates: a product beyond 2^62 is 2^62.
inline std::int64_t element_count(const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count) || count > most) return most;
  }
  return count;
}

/// What a tensor is, apart from where its elements lie.
struct TensorSpec {
  DType dtype = DType::f32;
  Shape shape;

  std::int64_t elements() const { return element_count(shape); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_bytes(dtype); }
};

}  // namespace assay
