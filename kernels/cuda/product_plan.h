#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/base/dtype.h"

namespace assay::cuda {

/// A matrix product as cuBLASLt takes it: D (m x n) = op(A) (m x k) op(B) (k x n), all in columns,
/// `batch` times over. A row-major matrix is the transpose of the same memory read in columns, so
/// row-major y = x w is D = y^T = w^T x^T: A is the second factor and B the first.
struct ProductPlan {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  bool a_transposed = false;
  std::int64_t a_leading = 0, b_leading = 0, d_leading = 0;
  std::int64_t a_stride = 0, b_stride = 0, d_stride = 0;  // from one of the batch to the next
  cudaDataType_t factors = CUDA_R_32F;
  cudaDataType_t result = CUDA_R_32F;
  cudaDataType_t scale = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
};

/// CUDA's name of a dtype. Throws DeviceError(unsupported) for one that matrices do not come in.
cudaDataType_t data_type(DType dtype);

/// y [batch][out] = x [batch][in] w [out][in]^T, with factors of `dtype` and y of `result`. f32
/// means FP32: no TF32, no emulation; 16-bit floats are summed in f32, i8 in i32. Throws
/// DeviceError(unsupported).
ProductPlan layer_plan(DType dtype, DType result, std::int64_t batch, std::int64_t in,
                       std::int64_t out);

/// y [batch][m][n] = a [batch][m][k] b [batch][k][n].
ProductPlan batched_plan(DType dtype, std::int64_t batch, std::int64_t m, std::int64_t n,
                         std::int64_t k);

/// The library's epilogue for an activation and a bias. None where it has none that is the same
/// function: its GELU is the tanh form, and integers have no epilogue.
std::optional<cublasLtEpilogue_t> epilogue_of(const std::string& act, bool bias, DType dtype);

}  // namespace assay::cuda
