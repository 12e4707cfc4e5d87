#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace assay {

/// Philox 4x32-10, a counter-based generator: the block for a counter needs no state, so element i
/// of a tensor is the same on every device and at every thread count.
/// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3;
/// multipliers, Weyl keys and test vectors are those of the authors' Random123.
using PhiloxBlock = std::array<std::uint32_t, 4>;

inline PhiloxBlock philox4x32(PhiloxBlock counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53;
  constexpr std::uint64_t multiplier1 = 0xCD9E8D57;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = multiplier0 * counter[0];
    const std::uint64_t product1 = multiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// The two 64-bit halves of the block at `index`, for the tensor named by `stream`.
inline std::array<std::uint64_t, 2> random_pair(std::uint64_t seed, std::uint64_t stream,
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
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return random_pair(seed, stream, index / 2)[index % 2];
}

}  // namespace assay
