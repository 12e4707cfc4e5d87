#include "kernels/core/philox.h"

#include "kernels/core/vector_clones.h"

namespace assay {

ASSAY_VECTOR_CLONES void random_pairs(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                                      std::span<std::array<std::uint64_t, 2>> pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = random_pair(seed, stream, first + i);
}

}  // namespace assay
