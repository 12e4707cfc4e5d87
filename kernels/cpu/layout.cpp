#include <cstring>
#include <type_traits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vectorize.h"

// Ops that move elements and compute nothing.
namespace assay::cpu {
namespace {

/// Tiles of a side that fills a cache line or more, so that each line that is fetched is used.
constexpr std::int64_t tile = 32;

template <class T>
void transpose_tile(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t r0,
                    std::int64_t c0) {
  const std::int64_t r1 = std::min(rows, r0 + tile);
  const std::int64_t c1 = std::min(cols, c0 + tile);
  for (std::int64_t c = c0; c < c1; ++c) {
    for (std::int64_t r = r0; r < r1; ++r) y[c * rows + r] = x[r * cols + c];
  }
}

template <class T>
void transpose_words(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t bands = (cols + tile - 1) / tile;
  parallel_blocks(bands, tile * rows * std::int64_t{sizeof(T)},
                  [=](std::int64_t, std::int64_t first, std::int64_t count) {
                    for (std::int64_t band = first; band < first + count; ++band) {
                      for (std::int64_t r = 0; r < rows; r += tile) {
                        transpose_tile(x, y, rows, cols, r, band * tile);
                      }
                    }
                  });
}

std::unique_ptr<Kernel> transpose(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t rows = op.params.integer("rows");
    const std::int64_t cols = op.params.integer("cols");
    return std::make_unique<FunctionKernel>("OpenMP tiles",
                                            [=] { transpose_words(x, y, rows, cols); });
  });
}

std::unique_ptr<Kernel> gather(const OpInstance& op, const Binding& binding) {
  const auto* x = static_cast<const std::byte*>(binding.inputs[0]);
  const auto* index = static_cast<const std::int64_t*>(binding.inputs[1]);
  auto* y = static_cast<std::byte*>(binding.outputs[0]);
  const std::int64_t row_bytes =
      op.params.integer("cols") * static_cast<std::int64_t>(size_bytes(op.dtype));
  const std::int64_t taken = op.params.integer("count");
  return std::make_unique<FunctionKernel>("memcpy of rows, OpenMP", [=] {
    parallel_blocks(taken, row_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) {
        std::memcpy(y + i * row_bytes, x + index[i] * row_bytes,
                    static_cast<std::size_t>(row_bytes));
      }
    });
  });
}

constexpr KernelRow rows[] = {
    {"transpose", transpose},
    {"gather", gather},
};

}  // namespace

std::span<const KernelRow> layout_kernels() { return rows; }

}  // namespace assay::cpu
