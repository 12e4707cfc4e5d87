#include "kernels/cpu/skinny_gemm.h"

#include <array>
#include <type_traits>

#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

/// Rows of weights read side by side: a single one does not keep memory busy.
constexpr std::int64_t abreast = 4;

/// Storage of an element of W. Within `omp simd` GCC 12 vectorises plain integers, but not the
/// structs of 16-bit floats.
template <class W>
using Bits = std::conditional_t<std::is_same_v<W, float>, float, std::uint16_t>;

template <class W>
float number(Bits<W> bits) {
  if constexpr (std::is_same_v<W, float>) {
    return bits;
  } else {
    W number;
    number.bits = bits;
    return static_cast<float>(number);
  }
}

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

}  // namespace

template <class W>
void few_rows_product(std::int64_t rows, std::int64_t cols, std::int64_t k, const float* x,
                      const W* w, const float* bias, float* y) {
  const auto* weights = reinterpret_cast<const Bits<W>*>(w);
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
