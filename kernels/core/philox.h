#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>
#include <span>

namespace assay {

// Philox 4x32-10, a counter-based generator: the block for a counter needs no state, so element i
// of a tensor is the same on every device and at every thread count.
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3.

/// The two 64-bit halves of the block at `index`, for the tensor named by `stream`.
R123_CUDA_DEVICE inline std::array<std::uint64_t, 2> random_pair(std::uint64_t seed,
                                                                 std::uint64_t stream,
                                                                 std::uint64_t index) {
  using Philox = r123::Philox4x32_R<10>;
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  const Philox::ctr_type block =
      Philox()({{low(index), high(index), low(stream), high(stream)}}, {{low(seed), high(seed)}});
  return {block[0] | (std::uint64_t{block[1]} << 32), block[2] | (std::uint64_t{block[3]} << 32)};
}

/// Computes the halves of consecutive blocks from `first` on, several times as fast: words 2 k and
/// 2 k + 1 are those of block `first` + k.
void random_words(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                  std::span<std::uint64_t> words);

/// The 64 random bits of element `index`: they depend on (seed, stream, index) alone.
R123_CUDA_DEVICE inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream,
                                                  std::uint64_t index) {
  return random_pair(seed, stream, index / 2)[index % 2];
}

}  // namespace assay
