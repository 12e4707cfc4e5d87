#include "kernels/cpu/bf16_unit.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <dnnl.hpp>
#include <utility>

#include "kernels/cpu/vectorize.h"

#if defined(__x86_64__) && !defined(ASSAY_CPU_ISA_AVX2)
#define ASSAY_HAS_VDPBF16PS
#include <immintrin.h>
#endif

namespace assay::cpu {
namespace {

ASSAY_VECTOR_CLONES std::uint16_t least_of(const BFloat16* x, std::int64_t n) {
  std::uint16_t least = 0xffff;
  for (std::int64_t i = 0; i < n; ++i) {
    least = std::min(least, static_cast<std::uint16_t>((x[i].bits & 0x7fffU) - 1));
  }
  return least;
}

}  // namespace

std::uint16_t least_bf16(const BFloat16* x, std::int64_t n) {
  std::atomic<std::uint16_t> least = 0xffff;
  parallel_blocks(n, sizeof(BFloat16), [&](std::int64_t, std::int64_t first, std::int64_t count) {
    const std::uint16_t here = least_of(x + first, count);
    std::uint16_t before = least;
    while (here < before && !least.compare_exchange_weak(before, here)) {
    }
  });
  return least;
}

#ifdef ASSAY_HAS_VDPBF16PS

bool has_bf16_unit() {
  constexpr auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  static const bool has = __builtin_cpu_supports("avx512bf16") &&
                          __builtin_cpu_supports("avx512bw") &&
                          (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
  return has;
}

namespace {

#define ASSAY_BF16_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

constexpr std::int64_t per_vector = 32;  // factors
/// Rows of w that are read side by side: one does not keep memory busy.
constexpr int abreast = 4;
/// Rows of x that are multiplied side by side. With `abreast` rows of w, their sums fill 24 of 32
/// registers.
constexpr int max_rows = 6;

using RowsOfW = std::array<const BFloat16*, abreast>;

ASSAY_BF16_TARGET inline __m512bh factors(const BFloat16* x, __mmask32 which) {
  return reinterpret_cast<__m512bh>(_mm512_maskz_loadu_epi16(which, x));
}

ASSAY_BF16_TARGET inline float total(__m512 lanes) {
  std::array<float, per_vector / 2> of;
  _mm512_storeu_ps(of.data(), lanes);
  for (std::size_t half = of.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) of[i] += of[i + half];
  }
  return of[0];
}

/// Sums of `Rows` rows of x with those of w, in sums[row][column]. `is_first`: looks at the factors
/// of w too, and returns the least as least_bf16() does.
template <int Rows, bool is_first>
ASSAY_BF16_TARGET std::uint16_t tile(std::int64_t k, const BFloat16* x, const RowsOfW& w,
                                     std::array<float, abreast>* sums) {
  // Plain arrays: vectors lose their attributes as arguments of templates.
  __m512 sum[Rows][abreast];  // NOLINT(modernize-avoid-c-arrays)
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t c = 0; c < abreast; ++c) sum[r][c] = _mm512_setzero_ps();
  }
  __m512i least = _mm512_set1_epi16(-1);
  const __m512i magnitude = _mm512_set1_epi16(0x7fff);
  const __m512i one = _mm512_set1_epi16(1);
  for (std::int64_t i = 0; i < k; i += per_vector) {
    const std::int64_t left = std::min(per_vector, k - i);
    const auto which = static_cast<__mmask32>(~std::uint32_t{0} >> (per_vector - left));
    __m512bh of_w[abreast];  // NOLINT(modernize-avoid-c-arrays)
#pragma GCC unroll 4
    for (std::size_t c = 0; c < abreast; ++c) {
      of_w[c] = factors(w[c] + i, which);
      if constexpr (is_first) {
        const __m512i sizes = _mm512_and_si512(reinterpret_cast<__m512i>(of_w[c]), magnitude);
        least = _mm512_min_epu16(least, _mm512_sub_epi16(sizes, one));
      }
    }
#pragma GCC unroll 6
    for (std::size_t r = 0; r < Rows; ++r) {
      const __m512bh of_x = factors(x + static_cast<std::int64_t>(r) * k + i, which);
#pragma GCC unroll 4
      for (std::size_t c = 0; c < abreast; ++c) {
        sum[r][c] = _mm512_dpbf16_ps(sum[r][c], of_x, of_w[c]);
      }
    }
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t c = 0; c < abreast; ++c) sums[r][c] = total(sum[r][c]);
  }
  if constexpr (!is_first) return 0xffff;
  std::array<std::uint16_t, per_vector> lanes;
  _mm512_storeu_si512(lanes.data(), least);
  return *std::ranges::min_element(lanes);
}

using Tile = std::uint16_t (*)(std::int64_t, const BFloat16*, const RowsOfW&,
                               std::array<float, abreast>*);

template <bool is_first>
Tile tile_of(std::int64_t rows) {
  static constexpr auto tiles =
      []<int... rows_less_one>(std::integer_sequence<int, rows_less_one...>) {
    return std::array<Tile, max_rows>{tile<rows_less_one + 1, is_first>...};
  }
  (std::make_integer_sequence<int, max_rows>());
  return tiles[static_cast<std::size_t>(rows - 1)];
}

}  // namespace

bool few_rows_by_unit(std::int64_t rows, std::int64_t cols, std::int64_t k, const BFloat16* x,
                      const BFloat16* w, const float* bias, float* y) {
  const std::uint16_t least_x = least_bf16(x, rows * k);
  std::atomic<bool> is_right = true;
  const auto some_columns = [&](std::int64_t col) {
    RowsOfW row_of;
    for (std::int64_t c = 0; c < abreast; ++c) {  // past the last: the last one again
      row_of[static_cast<std::size_t>(c)] = w + std::min(col + c, cols - 1) * k;
    }
    const std::int64_t blocks = (rows + max_rows - 1) / max_rows;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t first = rows * block / blocks;
      const std::int64_t some = rows * (block + 1) / blocks - first;
      std::array<std::array<float, abreast>, max_rows> sums;
      const Tile multiply = block == 0 ? tile_of<true>(some) : tile_of<false>(some);
      const std::uint16_t least_w = multiply(k, x + first * k, row_of, sums.data());
      if (block == 0 && !are_sums_normal(least_x, least_w)) is_right = false;
      for (std::int64_t r = 0; r < some; ++r) {
        for (std::int64_t c = 0; c < std::min<std::int64_t>(abreast, cols - col); ++c) {
          const float added = bias == nullptr ? 0 : bias[col + c];
          y[(first + r) * cols + col + c] =
              sums[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] + added;
        }
      }
    }
  };
  const std::int64_t groups = (cols + abreast - 1) / abreast;
  const std::int64_t group_bytes = abreast * k * static_cast<std::int64_t>(sizeof(BFloat16));
  parallel_blocks(groups, group_bytes, [&](std::int64_t, std::int64_t first, std::int64_t count) {
    for (std::int64_t group = first; group < first + count; ++group) {
      if (!is_right) return;
      some_columns(group * abreast);
    }
  });
  return is_right;
}

#else

bool has_bf16_unit() { return false; }

bool few_rows_by_unit(std::int64_t, std::int64_t, std::int64_t, const BFloat16*, const BFloat16*,
                      const float*, float*) {
  return false;
}

#endif

}  // namespace assay::cpu
