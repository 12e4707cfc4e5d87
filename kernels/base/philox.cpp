#include "kernels/base/philox.h"

#include <algorithm>
#include <cstddef>

// Of each loop the best version for the machine, where compilers can make several.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define ASSAY_PHILOX_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define ASSAY_PHILOX_CLONES
#endif

namespace assay {
namespace {

constexpr std::size_t lanes = 16;
using Lanes = std::array<std::uint64_t, lanes>;  // 32 bits of each

/// philox4x32 of `lanes` counters at once, in place.
ASSAY_PHILOX_CLONES void rounds(Lanes& c0, Lanes& c1, Lanes& c2, Lanes& c3, std::uint64_t key0,
                                std::uint64_t key1) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53;
  constexpr std::uint64_t multiplier1 = 0xCD9E8D57;
  constexpr std::uint64_t low = 0xffffffff;
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t product0 = multiplier0 * (c0[i] & low);
      const std::uint64_t product1 = multiplier1 * (c2[i] & low);
      c0[i] = (product1 >> 32) ^ c1[i] ^ key0;
      c1[i] = product1 & low;
      c2[i] = (product0 >> 32) ^ c3[i] ^ key1;
      c3[i] = product0 & low;
    }
    key0 = (key0 + 0x9E3779B9) & low;
    key1 = (key1 + 0xBB67AE85) & low;
  }
}

}  // namespace

void random_pairs(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                  std::span<std::array<std::uint64_t, 2>> pairs) {
  constexpr std::uint64_t low = 0xffffffff;
  for (std::size_t begin = 0; begin < pairs.size(); begin += lanes) {
    Lanes c0, c1, c2, c3;
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t index = first + begin + i;
      c0[i] = index & low;
      c1[i] = index >> 32;
      c2[i] = stream & low;
      c3[i] = stream >> 32;
    }
    rounds(c0, c1, c2, c3, seed & low, seed >> 32);
    const std::size_t count = std::min(lanes, pairs.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      pairs[begin + i] = {c0[i] | (c1[i] << 32), c2[i] | (c3[i] << 32)};
    }
  }
}

}  // namespace assay
