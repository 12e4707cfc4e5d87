#pragma once

#include <array>
#include <cstdint>

#include "kernels/core/status.h"
#include "kernels/core/strides.h"
#include "kernels/device/device.h"

namespace assay {

/// Extents of a copy between strides: matrices of rows and columns. Tensors of fewer extents have
/// one of each missing one.
struct StridedCopy {
  std::array<std::int64_t, 3> extents{1, 1, 1};
  std::array<std::int64_t, 3> from{0, 0, 0};  // strides
  std::array<std::int64_t, 3> to{0, 0, 0};

  /// Throws DeviceError(not_here) for tensors of more extents.
  StridedCopy(const TensorSpec& x, const TensorSpec& y) {
    const std::size_t rank = x.shape.size();
    if (rank > extents.size())
      throw DeviceError(Failure::not_here, "a copy of more than three extents with strides");
    const Strides of_x = strides_of(x);
    const Strides of_y = strides_of(y);
    for (std::size_t i = 0, at = extents.size() - rank; i < rank; ++i, ++at) {
      extents[at] = x.shape[i];
      from[at] = of_x[i];
      to[at] = of_y[i];
    }
  }

  std::int64_t elements() const { return extents[0] * extents[1] * extents[2]; }
};

}  // namespace assay
