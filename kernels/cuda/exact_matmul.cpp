#include "kernels/cuda/exact_matmul.h"

#include <algorithm>
#include <cmath>

namespace assay::cuda {
namespace {

constexpr std::int64_t power(int bits) { return std::int64_t{1} << bits; }

std::int64_t odd(std::int64_t limit) {
  return std::max<std::int64_t>(1, limit % 2 == 0 ? limit - 1 : limit);
}

/// Largest n such that the factor's type holds every integer up to n.
std::int64_t factor_limit(const MatmulPlan& plan) {
  switch (plan.factors) {
    case CUDA_R_64F:
      return power(26);
    case CUDA_R_32F:  // 11 bits of tf32
      return plan.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? power(11) : power(24);
    case CUDA_R_16BF:
      return power(8);
    case CUDA_R_16F:
      return power(11);
    case CUDA_R_8F_E4M3:
      return power(4);
    case CUDA_R_4F_E2M1:  // has no 5
      return 4;
    default:
      return 127;
  }
}

/// Limit of the sum of all magnitudes, two bits below the accumulator's precision: a bias is added.
/// Accumulators of 8-bit floats keep 14 bits (matmul_mode).
std::int64_t sum_limit(const MatmulPlan& plan) {
  switch (plan.compute) {
    case CUBLAS_COMPUTE_64F:
      return power(51);
    case CUBLAS_COMPUTE_32I:
      return power(29);
    default:
      return power(plan.factors == CUDA_R_8F_E4M3 ? 12 : 22);
  }
}

int bits_of(cudaDataType_t result) {
  switch (result) {
    case CUDA_R_64F:
      return 53;
    case CUDA_R_32I:
      return 31;
    case CUDA_R_16BF:
      return 8;
    case CUDA_R_16F:
      return 11;
    default:
      return 24;
  }
}

}  // namespace

ExactMatmul::ExactMatmul(const MatmulPlan& plan)
    : m_(plan.m),
      n_(plan.n),
      k_(plan.k),
      a_transposed_(plan.a_transposed),
      b_transposed_(plan.b_transposed),
      result_bits_(bits_of(plan.result)),
      has_bias_((plan.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0),
      is_relu_((plan.epilogue & CUBLASLT_EPILOGUE_RELU) != 0) {
  const std::int64_t limit = sum_limit(plan);
  // The largest f16 is 65504.
  const std::int64_t result_limit = plan.result == CUDA_R_16F ? power(14) : limit;
  // Terms beyond 2^22 (2^12 for 8-bit floats) are 0. Term indices are squared.
  terms_ = odd(std::min({plan.k, limit, power(30)}));
  sum_ = std::min(odd(terms_ / 2), odd(result_limit));
  negative_ = (terms_ - sum_) / 2;
  const std::int64_t product_limit = std::min(limit / terms_, result_limit / sum_);
  const std::int64_t widest = factor_limit(plan);
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(product_limit)));
  row_limit_ = odd(std::min(root, widest));
  column_limit_ = odd(std::min(product_limit / row_limit_, widest));
}

}  // namespace assay::cuda
