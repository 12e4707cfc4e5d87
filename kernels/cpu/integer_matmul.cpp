#include "kernels/cpu/integer_matmul.h"

#include <array>

#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

ASSAY_VECTOR_CLONES void widen_block(const std::int8_t* from, std::int16_t* to, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) to[i] = std::int16_t{from[i]};
}

void widen(const std::int8_t* from, std::vector<std::int16_t>& to) {
  parallel_blocks(std::ssize(to), 3, [&](std::int64_t, std::int64_t first, std::int64_t count) {
    widen_block(from + first, to.data() + first, count);
  });
}

/// Multiplies a row of x with four rows of w: each loaded element is used four times. Has no `omp
/// simd`: with it GCC 12 misses the instruction that sums two products at once (pmaddwd). Without
/// it the loop is 2.3 times as fast.
ASSAY_VECTOR_CLONES void dot_four(const std::int16_t* x, const std::int16_t* w, std::int64_t step,
                                  std::int64_t k, std::uint32_t* sums) {
  const auto product = [](std::int16_t a, std::int16_t b) {
    return static_cast<std::uint32_t>(a * b);  // unsigned sums wrap
  };
  const std::int16_t* w0 = w;
  const std::int16_t* w1 = w + step;
  const std::int16_t* w2 = w + 2 * step;
  const std::int16_t* w3 = w + 3 * step;
  std::uint32_t s0 = 0;
  std::uint32_t s1 = 0;
  std::uint32_t s2 = 0;
  std::uint32_t s3 = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    s0 += product(x[i], w0[i]);
    s1 += product(x[i], w1[i]);
    s2 += product(x[i], w2[i]);
    s3 += product(x[i], w3[i]);
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

/// Number of rows of w that stay in the first caches while all rows of x pass.
constexpr std::int64_t band = 16;

}  // namespace

IntegerMatmul::IntegerMatmul(std::int64_t rows, std::int64_t cols, std::int64_t k)
    : rows_(rows),
      cols_(cols),
      k_(k),
      x_(static_cast<std::size_t>(rows * k)),
      // Whole groups of four rows; rows past the last stay zero.
      w_(static_cast<std::size_t>((cols + 3) / 4 * 4 * k)) {}

void IntegerMatmul::run(const std::int8_t* x, const std::int8_t* w, const std::int32_t* bias,
                        std::int32_t* y) {
  widen(x, x_);
  parallel_blocks(cols_ * k_, 3, [&](std::int64_t, std::int64_t first, std::int64_t count) {
    widen_block(w + first, w_.data() + first, count);
  });
  const std::int64_t bands = (cols_ + band - 1) / band;
  parallel_blocks(bands, band * k_ * 64, [&](std::int64_t, std::int64_t first, std::int64_t count) {
    for (std::int64_t b = first; b < first + count; ++b) {
      const std::int64_t end = std::min(cols_, (b + 1) * band);
      for (std::int64_t row = 0; row < rows_; ++row) {
        for (std::int64_t col = b * band; col < end; col += 4) {
          std::array<std::uint32_t, 4> sums{};
          dot_four(x_.data() + row * k_, w_.data() + col * k_, k_, k_, sums.data());
          for (std::int64_t i = 0; i < std::min<std::int64_t>(4, end - col); ++i) {
            const std::uint32_t added =
                bias == nullptr ? 0 : static_cast<std::uint32_t>(bias[col + i]);
            y[row * cols_ + col + i] =
                static_cast<std::int32_t>(sums[static_cast<std::size_t>(i)] + added);
          }
        }
      }
    }
  });
}

}  // namespace assay::cpu
