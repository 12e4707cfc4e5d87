#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/tensor_spec.h"

// Strides of tensors, in elements: from one of each extent to the next, outermost first.
namespace assay {

using Strides = std::vector<std::int64_t>;

/// Makes those of a tensor whose rows follow each other, `row_stride` elements apart.
inline Strides strides_of_rows(const Shape& shape, std::int64_t row_stride) {
  Strides strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = i + 1 == shape.size() ? row_stride : strides[i] * shape[i];
  return strides;
}

/// Returns those of a dense tensor too.
inline Strides strides_of(const TensorSpec& spec) {
  if (!spec.is_dense()) return spec.strides;
  return strides_of_rows(spec.shape, spec.row_elements());
}

/// Makes TensorSpec::strides: empty for rows without gaps, and for a `row_stride` of 0.
inline Strides strides_of_gaps(const Shape& shape, std::int64_t row_stride) {
  if (row_stride == 0 || row_stride == shape.back()) return {};
  return strides_of_rows(shape, row_stride);
}

}  // namespace assay
