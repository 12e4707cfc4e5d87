#include "kernels/ops/borders.h"

#include <algorithm>

namespace assay {

std::vector<std::int64_t> borders(std::int64_t n) {
  /// Widths of vectors, cache lines, warps, tiles and blocks of threads.
  constexpr std::int64_t widths[] = {8, 16, 32, 64, 256, 1024};
  std::vector<std::int64_t> places{0, 1, n - 2, n - 1};
  for (const std::int64_t width : widths) {
    for (const std::int64_t border : {width, n / width * width}) {
      places.push_back(border - 1);
      places.push_back(border);
    }
  }
  std::erase_if(places, [&](std::int64_t place) { return place < 0 || place >= n; });
  std::ranges::sort(places);
  // No std::ranges::unique: Clang 14, which builds the fuzz targets, does not take its subrange.
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

}  // namespace assay
