#include "kernels/cpu/skinny_gemm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/cpu/plain_bits.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

/// Rows of weights that share the reads of several rows of x.
constexpr std::int64_t abreast = 4;

using Sums = std::array<float, abreast>;

/// Products of x with the rows of weights that `w` points to.
template <class W>
ASSAY_VECTOR_CLONES Sums products(const float* x, const std::array<const Bits<W>*, abreast>& w,
                                  std::int64_t k) {
  const Bits<W>* w0 = w[0];
  const Bits<W>* w1 = w[1];
  const Bits<W>* w2 = w[2];
  const Bits<W>* w3 = w[3];
  float s0 = 0;
  float s1 = 0;
  float s2 = 0;
  float s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (std::int64_t i = 0; i < k; ++i) {
    s0 += x[i] * number<W>(w0[i]);
    s1 += x[i] * number<W>(w1[i]);
    s2 += x[i] * number<W>(w2[i]);
    s3 += x[i] * number<W>(w3[i]);
  }
  return {s0, s1, s2, s3};
}

/// Products of one row of x are summed in as many lanes: enough chains of additions to wait for
/// memory alone, while a row of weights is read from its beginning to its end. Rows read side by
/// side often lie a multiple of 4 KiB apart, which costs a quarter of the speed.
constexpr std::int64_t lanes = 64;

/// Returns x as `single_product` reads it. Of bf16 two are read as one word, so each `lanes`
/// numbers are put in order of even indices, then odd ones; a shorter rest stays as it is.
template <class W>
std::vector<float> in_reading_order(const float* x, std::int64_t k) {
  std::vector<float> ordered(x, x + k);
  if constexpr (std::is_same_v<W, BFloat16>) {
    for (std::int64_t begin = 0; begin + lanes <= k; begin += lanes) {
      for (std::int64_t i = 0; i < lanes; ++i) {
        ordered[static_cast<std::size_t>(begin + i % 2 * (lanes / 2) + i / 2)] = x[begin + i];
      }
    }
  }
  return ordered;
}

template <class W>
ASSAY_VECTOR_CLONES float single_product(const float* x, const Bits<W>* w, std::int64_t k) {
  float sums[lanes] = {};
  std::int64_t begin = 0;
  for (; begin + lanes <= k; begin += lanes) {
    if constexpr (std::is_same_v<W, BFloat16>) {
      constexpr std::int64_t words = lanes / 2;
      ASSAY_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < words; ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, w + begin + 2 * i, sizeof word);
        sums[i] += x[begin + i] * std::bit_cast<float>(word << 16U);
        sums[words + i] += x[begin + words + i] * std::bit_cast<float>(word & 0xffff0000U);
      }
    } else {
      ASSAY_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < lanes; ++i) sums[i] += x[begin + i] * number<W>(w[begin + i]);
    }
  }
  float sum = 0;
  for (const float lane : sums) sum += lane;
  for (; begin < k; ++begin) sum += x[begin] * number<W>(w[begin]);
  return sum;
}

template <class W>
void single_row_product(std::int64_t cols, std::int64_t k, const float* x, const Bits<W>* w,
                        const float* bias, float* y) {
  const std::vector<float> ordered = in_reading_order<W>(x, k);
  const auto row_bytes = k * static_cast<std::int64_t>(sizeof(W));
  parallel_blocks(cols, row_bytes, [&](std::int64_t, std::int64_t first, std::int64_t count) {
    for (std::int64_t col = first; col < first + count; ++col) {
      y[col] =
          single_product<W>(ordered.data(), w + col * k, k) + (bias == nullptr ? 0 : bias[col]);
    }
  });
}

}  // namespace

template <class W>
void few_rows_product(std::int64_t rows, std::int64_t cols, std::int64_t k, const float* x,
                      const W* w, const float* bias, float* y) {
  const auto* weights = reinterpret_cast<const Bits<W>*>(w);
  if (rows == 1) return single_row_product<W>(cols, k, x, weights, bias, y);
  const auto some_columns = [=](std::int64_t col) {
    std::array<const Bits<W>*, abreast> row_of;
    for (std::int64_t c = 0; c < abreast; ++c) {  // past the last: the last one again
      row_of[static_cast<std::size_t>(c)] = weights + std::min(col + c, cols - 1) * k;
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      const Sums sums = products<W>(x + row * k, row_of, k);
      for (std::int64_t c = 0; c < std::min(abreast, cols - col); ++c) {
        const float added = bias == nullptr ? 0 : bias[col + c];
        y[row * cols + col + c] = sums[static_cast<std::size_t>(c)] + added;
      }
    }
  };
  const std::int64_t groups = (cols + abreast - 1) / abreast;
  const auto group_bytes = abreast * k * static_cast<std::int64_t>(sizeof(W));
  parallel_blocks(groups, group_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
    for (std::int64_t group = first; group < first + count; ++group) some_columns(group * abreast);
  });
}

template void few_rows_product(std::int64_t, std::int64_t, std::int64_t, const float*, const float*,
                               const float*, float*);
template void few_rows_product(std::int64_t, std::int64_t, std::int64_t, const float*,
                               const BFloat16*, const float*, float*);
template void few_rows_product(std::int64_t, std::int64_t, std::int64_t, const float*,
                               const Float16*, const float*, float*);

}  // namespace assay::cpu
