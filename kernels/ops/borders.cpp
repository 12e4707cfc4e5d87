#include "kernels/ops/borders.h"

#include <algorithm>

namespace assay {

std::vector<std::int64_t> borders(std::int64_t n) {
  /// Widths of vectors, cache lines, warps, tiles and blocks of threads.
  constexpr std::int64_t widths[] = {8, 16, 32, 64, 256, 1024};
  std::vector<std::int64_t> indices{0, 1, n - 2, n - 1};
  for (const std::int64_t width : widths) {
    for (const std::int64_t border : {width, n / width * width}) {
      indices.push_back(border - 1);
      indices.push_back(border);
    }
  }
  std::erase_if(indices, [&](std::int64_t index) { return index < 0 || index >= n; });
  std::ranges::sort(indices);
  // No std::ranges::unique: Clang 14, which builds the fuzz targets, does not take its subrange.
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

}  // namespace assay
