#include "harness/felt/elements.h"

#include "kernels/core/philox.h"

namespace assay::felt {
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
