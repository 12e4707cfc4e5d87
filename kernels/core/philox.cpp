#include "kernels/core/philox.h"

#include <algorithm>
#include <cstddef>

#include "kernels/core/vector_clones.h"

namespace assay {
namespace {

constexpr std::size_t lanes = 16;
using Lanes = std::array<std::array<std::uint64_t, lanes>, 4>;

ASSAY_VECTOR_CLONES void rounds(Lanes& words, std::uint32_t key0, std::uint32_t key1) {
  philox_rounds(words, key0, key1);
}

}  // namespace

void random_pairs(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                  std::span<std::array<std::uint64_t, 2>> pairs) {
  constexpr std::uint64_t low = 0xffffffff;
  for (std::size_t begin = 0; begin < pairs.size(); begin += lanes) {
    Lanes words;
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t index = first + begin + i;
      words[0][i] = index & low;
      words[1][i] = index >> 32;
      words[2][i] = stream & low;
      words[3][i] = stream >> 32;
    }
    rounds(words, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
    const std::size_t count = std::min(lanes, pairs.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      pairs[begin + i] = {words[0][i] | (words[1][i] << 32), words[2][i] | (words[3][i] << 32)};
    }
  }
}

}  // namespace assay
