#pragma once

#include <cstdint>
#include <vector>

namespace assay::cpu {

/// y[r][c] = sum over i of x[r][i] w[c][i] (+ bias[c]): 8-bit integers summed exactly in 32 bits,
/// beyond which sums wrap. Own loops: without VNNI oneDNN 2.6 saturates pairs of products to 16
/// bits, and is wrong for almost every output of full-range data.
class IntegerMatmul {
 public:
  IntegerMatmul(std::int64_t rows, std::int64_t cols, std::int64_t k);

  /// `bias` may be null.
  void run(const std::int8_t* x, const std::int8_t* w, const std::int32_t* bias, std::int32_t* y);

 private:
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t k_;
  // Widened to 16 bits: processors multiply and add pairs of those exactly.
  std::vector<std::int16_t> x_;
  std::vector<std::int16_t> w_;
};

}  // namespace assay::cpu
