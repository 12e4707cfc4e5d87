#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/caches.h"
#include "kernels/cpu/square.h"
#include "kernels/cpu/streaming.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {

/// Matrix whose rows lie `step` elements apart.
template <class T>
struct StepMatrix {
  T* elements;
  std::int64_t step;
};

/// A tile is a line across and two down. It is transposed in the first cache and written out line
/// by line. Rows a power of two apart share a set of the first cache, which holds a dozen of them:
/// no more are read at once, and lines of the next tile are fetched into the second cache.
inline constexpr std::int64_t across_bytes = 64;
inline constexpr std::int64_t down_bytes = 128;

/// Transposes a tile of so many rows and columns.
template <class T>
ASSAY_VECTOR_CLONES void turn_tile(StepMatrix<const T> x, StepMatrix<T> y, std::int64_t height,
                                   std::int64_t width, bool streams) {
  constexpr std::int64_t down = down_bytes / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t across = across_bytes / static_cast<std::int64_t>(sizeof(T));
  std::array<T, static_cast<std::size_t>(across * down)> turned;
  for (std::int64_t r = 0; r < height; ++r)
    __builtin_prefetch(x.elements + r * x.step + width, 0, 2);
  constexpr auto side = static_cast<std::int64_t>(Square<T>::side);
  const std::int64_t by_squares = height / side * side;
  const std::int64_t c0 = width / side * side;
  for (std::int64_t r = 0; r < by_squares; r += side) {
    for (std::int64_t c = 0; c < c0; c += side) {
      Square<T> square;
      square.load(x.elements + r * x.step + c, x.step);
      square.transpose();
      square.store(&turned[static_cast<std::size_t>(c * down + r)], down);
    }
  }
  for (std::int64_t r = 0; r < height; ++r) {
    const T* row = x.elements + r * x.step;
    for (std::int64_t c = r < by_squares ? c0 : 0; c < width; ++c)
      turned[static_cast<std::size_t>(c * down + r)] = row[c];
  }
  for (std::int64_t c = 0; c < width; ++c) {
    T* to = y.elements + c * y.step;
    const T* from = turned.data() + c * down;
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
  constexpr std::int64_t down = down_bytes / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t across = across_bytes / static_cast<std::int64_t>(sizeof(T));
  // Small enough that each page's address translation stays cached: rows of a large matrix lie on
  // a page each.
  constexpr std::int64_t block = 256;
  const std::int64_t blocks_across = (cols + block - 1) / block;
  const std::int64_t blocks = blocks_across * ((rows + block - 1) / block);
  // Tiles that share a line would each write their part of it past the caches.
  const bool share_lines = !begins_line(y.elements) || !begins_line(y.elements + y.step);
  const bool streams = !share_lines && exceeds_caches(2 * rows * cols * std::int64_t{sizeof(T)});
  const auto turn_block = [=](std::int64_t r0, std::int64_t c0) {
    for (std::int64_t r = r0; r < std::min(rows, r0 + block); r += down) {
      for (std::int64_t c = c0; c < std::min(cols, c0 + block); c += across) {
        turn_tile(StepMatrix<const T>{x.elements + r * x.step + c, x.step},
                  StepMatrix<T>{y.elements + c * y.step + r, y.step}, std::min(down, rows - r),
                  std::min(across, cols - c), streams);
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
