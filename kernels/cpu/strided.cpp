#include "kernels/cpu/strided.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/turned.h"
#include "kernels/cpu/vectorize.h"
#include "kernels/device/strided.h"

namespace assay::cpu {
namespace {

/// Side of a tile, whose lines of either tensor stay in the first cache until each of their
/// elements was used.
constexpr std::int64_t side = 64;

template <class T>
ASSAY_VECTOR_CLONES void copy_tile(const StridedCopy& copy, const T* x, T* y, std::int64_t rows,
                                   std::int64_t cols) {
  const std::int64_t from = copy.from[2];
  const std::int64_t to = copy.to[2];
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* x_row = x + r * copy.from[1];
    T* y_row = y + r * copy.to[1];
    if (from == 1 && to == 1) {
      std::memcpy(y_row, x_row, static_cast<std::size_t>(cols) * sizeof(T));
      continue;
    }
    for (std::int64_t c = 0; c < cols; ++c) y_row[c * to] = x_row[c * from];
  }
}

template <class T>
void copy_tiles(const StridedCopy& copy, const T* x, T* y) {
  const auto [outer, rows, cols] = copy.extents;
  // Rows that lie together in both are copied whole.
  const bool are_rows = copy.from[2] == 1 && copy.to[2] == 1;
  const std::int64_t width = are_rows ? std::max<std::int64_t>(1, cols) : side;
  const std::int64_t across = (cols + width - 1) / width;
  const std::int64_t down = (rows + side - 1) / side;
  const std::int64_t tile_bytes = 2 * side * width * std::int64_t{sizeof(T)};
  parallel_blocks(outer * down * across, tile_bytes,
                  [=](std::int64_t, std::int64_t first, std::int64_t count) {
                    for (std::int64_t i = first; i < first + count; ++i) {
                      const std::int64_t o = i / across / down;
                      const std::int64_t r = i / across % down * side;
                      const std::int64_t c = i % across * width;
                      copy_tile(copy, x + o * copy.from[0] + r * copy.from[1] + c * copy.from[2],
                                y + o * copy.to[0] + r * copy.to[1] + c * copy.to[2],
                                std::min(side, rows - r), std::min(width, cols - c));
                    }
                  });
}

/// Copies matrices whose rows are the columns of the other tensor, and which are large enough for
/// all threads. Returns false for others.
template <class T>
bool turn_matrices(const StridedCopy& copy, const T* x, T* y) {
  const auto [outer, rows, cols] = copy.extents;
  const bool x_is_turned = copy.from[1] == 1 && copy.to[2] == 1;
  const bool y_is_turned = copy.from[2] == 1 && copy.to[1] == 1;
  const bool is_large = rows * cols * std::int64_t{sizeof(T)} > parallel_bytes;
  if (x_is_turned == y_is_turned || !is_large) return false;
  for (std::int64_t o = 0; o < outer; ++o) {
    const T* const from = x + o * copy.from[0];
    T* const to = y + o * copy.to[0];
    if (x_is_turned) {
      turn(StepMatrix<const T>{from, copy.from[2]}, StepMatrix<T>{to, copy.to[1]}, cols, rows);
    } else {
      turn(StepMatrix<const T>{from, copy.from[1]}, StepMatrix<T>{to, copy.to[2]}, rows, cols);
    }
  }
  return true;
}

}  // namespace

std::unique_ptr<Kernel> strided_copy(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    const StridedCopy copy(op.signature.inputs[0], op.signature.outputs[0]);
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    return std::make_unique<FunctionKernel>("OpenMP tiles, by strides", [=] {
      if (!turn_matrices(copy, x, y)) copy_tiles(copy, x, y);
    });
  });
}

}  // namespace assay::cpu
