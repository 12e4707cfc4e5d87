#include <array>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/caches.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/streaming.h"
#include "kernels/cpu/vectorize.h"

// Ops that move elements without computing.
namespace assay::cpu {
namespace {

/// Side of a tile: two cache lines. A tile is transposed in the first cache, where nothing
/// collides, and written out line by line. Direct writes of columns a power of two apart would
/// share cache sets.
constexpr std::int64_t tile_bytes = 128;

template <class T>
ASSAY_VECTOR_CLONES void transpose_tile(const T* x, T* y, std::int64_t rows, std::int64_t cols,
                                        std::int64_t r0, std::int64_t c0, bool streams) {
  constexpr std::int64_t tile = tile_bytes / static_cast<std::int64_t>(sizeof(T));
  std::array<T, static_cast<std::size_t>(tile * tile)> turned;
  const std::int64_t height = std::min(tile, rows - r0);
  const std::int64_t width = std::min(tile, cols - c0);
  for (std::int64_t r = 0; r < height; ++r) {
    const T* row = x + (r0 + r) * cols + c0;
    for (std::int64_t c = 0; c < width; ++c)
      turned[static_cast<std::size_t>(c * tile + r)] = row[c];
  }
  for (std::int64_t c = 0; c < width; ++c) {
    T* to = y + (c0 + c) * rows + r0;
    const T* from = turned.data() + c * tile;
    const auto bytes = static_cast<std::size_t>(height) * sizeof(T);
    if (streams) {
      stream_out(to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
}

/// Side of a block, small enough that each page's address translation stays cached: rows of a large
/// matrix lie on a page each.
constexpr std::int64_t block = 256;

template <class T>
void transpose_words(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t tile = tile_bytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t blocks_across = (cols + block - 1) / block;
  const std::int64_t blocks = blocks_across * ((rows + block - 1) / block);
  const bool streams = exceeds_caches(2 * rows * cols * std::int64_t{sizeof(T)});
  const auto turn = [=](std::int64_t r0, std::int64_t c0) {
    for (std::int64_t r = r0; r < std::min(rows, r0 + block); r += tile) {
      for (std::int64_t c = c0; c < std::min(cols, c0 + block); c += tile) {
        transpose_tile(x, y, rows, cols, r, c, streams);
      }
    }
  };
  parallel_blocks(blocks, 2 * block * block * std::int64_t{sizeof(T)},
                  [=](std::int64_t, std::int64_t first, std::int64_t count) {
                    for (std::int64_t i = first; i < first + count; ++i) {
                      turn(i / blocks_across * block, i % blocks_across * block);
                    }
                    end_streaming();
                  });
}

std::unique_ptr<Kernel> transpose(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t rows = op.params.integer("rows");
    const std::int64_t cols = op.params.integer("cols");
    return std::make_unique<FunctionKernel>("OpenMP tiles turned in the first cache",
                                            [=] { transpose_words(x, y, rows, cols); });
  });
}

std::unique_ptr<Kernel> gather(const OpInstance& op, const Binding& binding) {
  const auto* x = static_cast<const std::byte*>(binding.inputs[0]);
  const auto* index = static_cast<const std::int64_t*>(binding.inputs[1]);
  auto* y = static_cast<std::byte*>(binding.outputs[0]);
  const std::int64_t row_bytes =
      op.params.integer("cols") * static_cast<std::int64_t>(size_bytes(op.dtype()));
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
