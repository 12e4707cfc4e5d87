#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/caches.h"
#include "kernels/cpu/streaming.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {

/// Matrix whose rows lie `step` elements apart.
template <class T>
struct StepMatrix {
  T* elements;
  std::int64_t step;
};

/// Side of a tile: two cache lines. A tile is transposed in the first cache, where nothing
/// collides, and written out line by line. Direct writes of columns a power of two apart would
/// share cache sets.
inline constexpr std::int64_t turned_bytes = 128;

/// Transposes a tile of so many rows and columns.
template <class T>
ASSAY_VECTOR_CLONES void turn_tile(StepMatrix<const T> x, StepMatrix<T> y, std::int64_t height,
                                   std::int64_t width, bool streams) {
  constexpr std::int64_t tile = turned_bytes / static_cast<std::int64_t>(sizeof(T));
  std::array<T, static_cast<std::size_t>(tile * tile)> turned;
  for (std::int64_t r = 0; r < height; ++r) {
    const T* row = x.elements + r * x.step;
    for (std::int64_t c = 0; c < width; ++c)
      turned[static_cast<std::size_t>(c * tile + r)] = row[c];
  }
  for (std::int64_t c = 0; c < width; ++c) {
    T* to = y.elements + c * y.step;
    const T* from = turned.data() + c * tile;
    const auto bytes = static_cast<std::size_t>(height) * sizeof(T);
    if (streams) {
      stream_out(to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
}

/// y = x^T on all threads, of x with so many rows and columns.
template <class T>
void turn(StepMatrix<const T> x, StepMatrix<T> y, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t tile = turned_bytes / static_cast<std::int64_t>(sizeof(T));
  // Small enough that each page's address translation stays cached: rows of a large matrix lie on
  // a page each.
  constexpr std::int64_t block = 256;
  const std::int64_t blocks_across = (cols + block - 1) / block;
  const std::int64_t blocks = blocks_across * ((rows + block - 1) / block);
  const bool streams = exceeds_caches(2 * rows * cols * std::int64_t{sizeof(T)});
  const auto turn_block = [=](std::int64_t r0, std::int64_t c0) {
    for (std::int64_t r = r0; r < std::min(rows, r0 + block); r += tile) {
      for (std::int64_t c = c0; c < std::min(cols, c0 + block); c += tile) {
        turn_tile(StepMatrix<const T>{x.elements + r * x.step + c, x.step},
                  StepMatrix<T>{y.elements + c * y.step + r, y.step}, std::min(tile, rows - r),
                  std::min(tile, cols - c), streams);
      }
    }
  };
  parallel_blocks(blocks, 2 * block * block * std::int64_t{sizeof(T)},
                  [=](std::int64_t, std::int64_t first, std::int64_t count) {
                    for (std::int64_t i = first; i < first + count; ++i) {
                      turn_block(i / blocks_across * block, i % blocks_across * block);
                    }
                    end_streaming();
                  });
}

}  // namespace assay::cpu
