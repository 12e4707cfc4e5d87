#include "kernels/core/philox.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
// GCC takes the undefined vectors of its own header for mistakes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace assay {
namespace {

/// Returns how many words were computed: whole groups of blocks.
using Words = std::size_t (*)(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                              std::span<std::uint64_t> words);

std::size_t no_words(std::uint64_t /*seed*/, std::uint64_t /*stream*/, std::uint64_t /*first*/,
                     std::span<std::uint64_t> /*words*/) {
  return 0;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) __m256i all(std::uint64_t value) {
  return _mm256_set1_epi64x(static_cast<long long>(value));
}

/// Blocks in the 64-bit lanes of vectors. The four words of a block lie in the lower halves of four
/// vectors. Compilers do not find this: products need the lower halves alone, so the upper ones may
/// hold anything.
__attribute__((target("avx2"))) std::size_t words_by_avx2(std::uint64_t seed, std::uint64_t stream,
                                                          std::uint64_t first,
                                                          std::span<std::uint64_t> words) {
  constexpr std::size_t vectors = 2;  // products take 5 cycles: two chains hide that
  constexpr std::size_t lanes = 4;
  constexpr std::size_t step = 2 * vectors * lanes;  // words
  const __m256i m0 = all(PHILOX_M4x32_0);
  const __m256i m1 = all(PHILOX_M4x32_1);
  std::size_t done = 0;
  for (; done + step <= words.size(); done += step) {
    __m256i c0[vectors], c1[vectors], c2[vectors], c3[vectors];
    for (std::size_t v = 0; v < vectors; ++v) {
      c0[v] = _mm256_add_epi64(all(first + done / 2 + lanes * v), _mm256_set_epi64x(3, 2, 1, 0));
      c1[v] = _mm256_srli_epi64(c0[v], 32);
      c2[v] = all(stream);
      c3[v] = all(stream >> 32U);
    }
    auto k0 = static_cast<std::uint32_t>(seed);
    auto k1 = static_cast<std::uint32_t>(seed >> 32U);
    for (int round = 0; round < 10; ++round) {
      for (std::size_t v = 0; v < vectors; ++v) {
        const __m256i p0 = _mm256_mul_epu32(m0, c0[v]);
        const __m256i p1 = _mm256_mul_epu32(m1, c2[v]);
        c0[v] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), c1[v]), all(k0));
        c2[v] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3[v]), all(k1));
        c1[v] = p1;
        c3[v] = p0;
      }
      k0 += PHILOX_W32_0;
      k1 += PHILOX_W32_1;
    }
    for (std::size_t v = 0; v < vectors; ++v) {
      constexpr int odd = 0xaa;
      const __m256i low = _mm256_blend_epi32(c0[v], _mm256_slli_epi64(c1[v], 32), odd);
      const __m256i high = _mm256_blend_epi32(c2[v], _mm256_slli_epi64(c3[v], 32), odd);
      const __m256i even_blocks = _mm256_unpacklo_epi64(low, high);
      const __m256i odd_blocks = _mm256_unpackhi_epi64(low, high);
      auto* const to = reinterpret_cast<__m256i*>(&words[done + 2 * lanes * v]);
      _mm256_storeu_si256(to, _mm256_permute2x128_si256(even_blocks, odd_blocks, 0x20));
      _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even_blocks, odd_blocks, 0x31));
    }
  }
  return done;
}

__attribute__((target("avx512f"))) __m512i all_of_eight(std::uint64_t value) {
  return _mm512_set1_epi64(static_cast<long long>(value));
}

/// Computes as words_by_avx2 does, in vectors of twice the length.
__attribute__((target("avx512f"))) std::size_t words_by_avx512(std::uint64_t seed,
                                                               std::uint64_t stream,
                                                               std::uint64_t first,
                                                               std::span<std::uint64_t> words) {
  constexpr std::size_t vectors = 2;
  constexpr std::size_t lanes = 8;
  constexpr std::size_t step = 2 * vectors * lanes;  // words
  constexpr int exclusive_or_of_three = 0x96;
  constexpr __mmask16 odd = 0xaaaa;
  const __m512i m0 = all_of_eight(PHILOX_M4x32_0);
  const __m512i m1 = all_of_eight(PHILOX_M4x32_1);
  const __m512i counts = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  // Places of the words of a block in two vectors, of which the second begins at 8.
  const __m512i first_half = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
  const __m512i second_half = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
  std::size_t done = 0;
  for (; done + step <= words.size(); done += step) {
    __m512i c0[vectors], c1[vectors], c2[vectors], c3[vectors];
    for (std::size_t v = 0; v < vectors; ++v) {
      c0[v] = _mm512_add_epi64(all_of_eight(first + done / 2 + lanes * v), counts);
      c1[v] = _mm512_srli_epi64(c0[v], 32);
      c2[v] = all_of_eight(stream);
      c3[v] = all_of_eight(stream >> 32U);
    }
    auto k0 = static_cast<std::uint32_t>(seed);
    auto k1 = static_cast<std::uint32_t>(seed >> 32U);
    for (int round = 0; round < 10; ++round) {
      for (std::size_t v = 0; v < vectors; ++v) {
        const __m512i p0 = _mm512_mul_epu32(m0, c0[v]);
        const __m512i p1 = _mm512_mul_epu32(m1, c2[v]);
        c0[v] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), c1[v], all_of_eight(k0),
                                          exclusive_or_of_three);
        c2[v] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), c3[v], all_of_eight(k1),
                                          exclusive_or_of_three);
        c1[v] = p1;
        c3[v] = p0;
      }
      k0 += PHILOX_W32_0;
      k1 += PHILOX_W32_1;
    }
    for (std::size_t v = 0; v < vectors; ++v) {
      const __m512i low = _mm512_mask_blend_epi32(odd, c0[v], _mm512_slli_epi64(c1[v], 32));
      const __m512i high = _mm512_mask_blend_epi32(odd, c2[v], _mm512_slli_epi64(c3[v], 32));
      std::uint64_t* const to = &words[done + 2 * lanes * v];
      _mm512_storeu_si512(to, _mm512_permutex2var_epi64(low, first_half, high));
      _mm512_storeu_si512(to + lanes, _mm512_permutex2var_epi64(low, second_half, high));
    }
  }
  return done;
}
#endif

Words best_words() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return words_by_avx512;
  if (__builtin_cpu_supports("avx2")) return words_by_avx2;
#endif
  return no_words;
}

}  // namespace

void random_words(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                  std::span<std::uint64_t> words) {
  static const Words vectorised = best_words();
  for (std::size_t i = vectorised(seed, stream, first, words); i < words.size(); i += 2) {
    const std::array<std::uint64_t, 2> pair = random_pair(seed, stream, first + i / 2);
    std::copy_n(pair.begin(), std::min<std::size_t>(2, words.size() - i), &words[i]);
  }
}

}  // namespace assay
