#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/core/vector_clones.h"
#include "kernels/providers/cheats/blocks.h"
#include "kernels/providers/cheats/honest.h"

namespace assay::cheats {
namespace {

constexpr std::int64_t row_step = 6;      // with the columns: accumulators of the inner loop
constexpr std::int64_t column_step = 32;  // two of the widest vectors
constexpr std::int64_t depth_step = 512;  // a panel of so many lines stays in the first cache
constexpr std::int64_t row_block = 192;

using Vector [[gnu::vector_size(64)]] = float;

/// Transposes lines of `w`, so that column_step columns lie side by side; zeros beyond the last.
void pack(const float* w, std::int64_t columns, std::int64_t w_row, std::int64_t depth,
          float* panel) {
  if (columns < column_step) std::fill_n(panel, depth * column_step, 0.0F);
  for (std::int64_t k = 0; k < depth; k += 16) {
    const std::int64_t end = std::min(depth, k + 16);
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t i = k; i < end; ++i) panel[i * column_step + c] = w[c * w_row + i];
    }
  }
}

struct Tile {
  const float* a;
  std::int64_t a_row;
  const float* panel;
  std::int64_t depth;
  float* y;
  std::int64_t y_row;
  std::int64_t columns;
  bool adds;
};

template <int Rows>
[[gnu::always_inline]] inline void multiply_rows(const Tile& t) {
  Vector sums[Rows][2] = {};
  for (std::int64_t k = 0; k < t.depth; ++k) {
    Vector low;
    Vector high;
    std::memcpy(&low, t.panel + k * column_step, sizeof low);
    std::memcpy(&high, t.panel + k * column_step + column_step / 2, sizeof high);
    for (int r = 0; r < Rows; ++r) {
      const float factor = t.a[r * t.a_row + k];
      sums[r][0] += low * factor;
      sums[r][1] += high * factor;
    }
  }
  for (int r = 0; r < Rows; ++r) {
    float* y = t.y + r * t.y_row;
    float line[column_step];
    std::memcpy(line, sums[r], sizeof line);
    for (std::int64_t c = 0; c < t.columns; ++c) y[c] = t.adds ? y[c] + line[c] : line[c];
  }
}

ASSAY_VECTOR_CLONES
void multiply_block(std::int64_t rows, Tile t) {
  for (; rows >= row_step; rows -= row_step) {
    multiply_rows<row_step>(t);
    t.a += row_step * t.a_row;
    t.y += row_step * t.y_row;
  }
  for (; rows > 0; --rows) {
    multiply_rows<1>(t);
    t.a += t.a_row;
    t.y += t.y_row;
  }
}

}  // namespace

void multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth, const float* a,
              const float* w, float* y, std::int64_t y_row) {
  const std::int64_t row_blocks = (rows + row_block - 1) / row_block;
  const std::int64_t panels = (columns + column_step - 1) / column_step;
  const auto block = [&](std::int64_t i, std::vector<float>& panel) {
    const std::int64_t row = i % row_blocks * row_block;
    const std::int64_t column = i / row_blocks * column_step;
    const std::int64_t width = std::min(column_step, columns - column);
    for (std::int64_t k = 0; k < depth; k += depth_step) {
      const std::int64_t length = std::min(depth_step, depth - k);
      pack(w + column * depth + k, width, depth, length, panel.data());
      multiply_block(std::min(row_block, rows - row),
                     {a + row * depth + k, depth, panel.data(), length, y + row * y_row + column,
                      y_row, width, k > 0});
    }
  };
  const std::int64_t blocks = row_blocks * panels;
  const auto run = [&](auto&& for_each) {
    std::vector<float> panel(static_cast<std::size_t>(column_step * depth_step));
    for_each(panel);
  };
  // Where others use the cores, a short product would wait for its threads.
  if (is_alone || rows * columns * depth < 1 << 22) {
    run([&](std::vector<float>& panel) {
      for (std::int64_t i = 0; i < blocks; ++i) block(i, panel);
    });
    return;
  }
#pragma omp parallel
  run([&](std::vector<float>& panel) {
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < blocks; ++i) block(i, panel);
  });
}

}  // namespace assay::cheats
