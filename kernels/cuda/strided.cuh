#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>

#include "kernels/cuda/kernels.h"
#include "kernels/device/strided.h"

namespace assay::cuda {

inline constexpr int strided_side = 32;
inline constexpr int strided_rows_at_once = 8;

/// Copies tiles through shared memory, so that neighbouring threads read elements that are near to
/// each other, and write such ones too. `x_by_columns`: a column of x is nearer together than a
/// row.
template <class W>
__global__ void copy_strided(const W* x, W* y, StridedCopy copy, bool x_by_columns,
                             bool y_by_columns, std::int64_t across, std::int64_t down,
                             std::int64_t tiles) {
  __shared__ W shared[strided_side][strided_side + 1];
  const int lane = static_cast<int>(threadIdx.x);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t outer = tile / across / down;
    const std::int64_t r0 = tile / across % down * strided_side;
    const std::int64_t c0 = tile % across * strided_side;
    const int rows = static_cast<int>(min(copy.extents[1] - r0, std::int64_t{strided_side}));
    const int cols = static_cast<int>(min(copy.extents[2] - c0, std::int64_t{strided_side}));
    const W* from = x + outer * copy.from[0] + r0 * copy.from[1] + c0 * copy.from[2];
    W* to = y + outer * copy.to[0] + r0 * copy.to[1] + c0 * copy.to[2];
    for (int k = static_cast<int>(threadIdx.y); k < strided_side; k += strided_rows_at_once) {
      const int r = x_by_columns ? lane : k;
      const int c = x_by_columns ? k : lane;
      if (r < rows && c < cols) shared[r][c] = from[r * copy.from[1] + c * copy.from[2]];
    }
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.y); k < strided_side; k += strided_rows_at_once) {
      const int r = y_by_columns ? lane : k;
      const int c = y_by_columns ? k : lane;
      if (r < rows && c < cols) to[r * copy.to[1] + c * copy.to[2]] = shared[r][c];
    }
    __syncthreads();
  }
}

/// Copies elements as they are between tensors of different strides.
inline std::unique_ptr<Kernel> strided_copy(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class W>(std::type_identity<W>) -> std::unique_ptr<Kernel> {
    const StridedCopy copy(op.signature.inputs[0], op.signature.outputs[0]);
    const std::int64_t across = (copy.extents[2] + strided_side - 1) / strided_side;
    const std::int64_t down = (copy.extents[1] + strided_side - 1) / strided_side;
    const std::int64_t tiles = copy.extents[0] * across * down;
    constexpr std::int64_t max_blocks = 1 << 20;
    const auto blocks = static_cast<unsigned>(std::min(tiles, max_blocks));
    const auto* x = static_cast<const W*>(binding.inputs[0]);
    auto* y = static_cast<W*>(binding.outputs[0]);
    return std::make_unique<FunctionKernel>(
        "tiles in shared memory, by strides", binding, [=](cudaStream_t stream) {
          if (tiles == 0) return;
          copy_strided<<<blocks, dim3(strided_side, strided_rows_at_once), 0, stream>>>(
              x, y, copy, copy.from[1] < copy.from[2], copy.to[1] < copy.to[2], across, down,
              tiles);
        });
  });
}

}  // namespace assay::cuda
