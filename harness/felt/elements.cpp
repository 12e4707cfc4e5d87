#include "harness/felt/elements.h"

#include <algorithm>

#include "kernels/core/philox.h"
#include "kernels/ops/borders.h"

namespace assay::felt {
std::vector<std::int64_t> border_elements(const TensorSpec& spec) {
  const std::int64_t n = spec.elements();
  std::vector<std::int64_t> elements = borders(n);
  const std::int64_t row = spec.row_elements();
  if (row > 0 && row < n) {
    for (const std::int64_t column : borders(row)) {
      elements.push_back(column);
      elements.push_back(n - row + column);
    }
  }
  std::ranges::sort(elements);
  elements.erase(std::ranges::unique(elements).begin(), elements.end());
  return elements;
}

std::vector<std::int64_t> drawn_elements(const TensorSpec& spec, int count, std::uint64_t seed) {
  std::vector<std::int64_t> elements;
  const auto n = static_cast<std::uint64_t>(spec.elements());
  for (int i = 0; i < count && n > 0; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    elements.push_back(static_cast<std::int64_t>(random_bits(seed, 0, index) % n));
  }
  return elements;
}

}  // namespace assay::felt
