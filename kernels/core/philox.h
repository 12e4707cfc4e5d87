#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay {

/// Philox 4x32-10, a counter-based generator: the block for a counter needs no state, so element i
/// of a tensor is the same on every device and at every thread count.
/// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3;
/// multipliers, Weyl keys and test vectors are those of the authors' Random123.
using PhiloxBlock = std::array<std::uint32_t, 4>;

/// The ten rounds of N counters side by side: word w of counter i is the lower half of words[w][i].
template <std::size_t N>
constexpr void philox_rounds(std::array<std::array<std::uint64_t, N>, 4>& words, std::uint32_t key0,
                             std::uint32_t key1) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53;
  constexpr std::uint64_t multiplier1 = 0xCD9E8D57;
  constexpr std::uint64_t low = 0xffffffff;
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < N; ++i) {
      const std::uint64_t product0 = multiplier0 * (words[0][i] & low);
      const std::uint64_t product1 = multiplier1 * (words[2][i] & low);
      words[0][i] = (product1 >> 32) ^ words[1][i] ^ key0;
      words[1][i] = product1 & low;
      words[2][i] = (product0 >> 32) ^ words[3][i] ^ key1;
      words[3][i] = product0 & low;
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::array<std::uint32_t, 2> key) {
  std::array<std::array<std::uint64_t, 1>, 4> words{
      {{counter[0]}, {counter[1]}, {counter[2]}, {counter[3]}}};
  philox_rounds(words, key[0], key[1]);
  return {static_cast<std::uint32_t>(words[0][0]), static_cast<std::uint32_t>(words[1][0]),
          static_cast<std::uint32_t>(words[2][0]), static_cast<std::uint32_t>(words[3][0])};
}

/// The two 64-bit halves of the block at `index`, for the tensor named by `stream`.
constexpr std::array<std::uint64_t, 2> random_pair(std::uint64_t seed, std::uint64_t stream,
                                                   std::uint64_t index) {
  const PhiloxBlock block =
      philox4x32({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                  static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return {block[0] | (static_cast<std::uint64_t>(block[1]) << 32),
          block[2] | (static_cast<std::uint64_t>(block[3]) << 32)};
}

/// The same for consecutive indices from `first` on, several times as fast.
void random_pairs(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                  std::span<std::array<std::uint64_t, 2>> pairs);

/// The 64 random bits of element `index`: they depend on (seed, stream, index) alone.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return random_pair(seed, stream, index / 2)[index % 2];
}

}  // namespace assay
