#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/core/format.h"
#include "kernels/core/math_mode.h"

namespace assay::cuda {

/// CUBLAS_COMPUTE_32F_EMULATED_16BFX9, which headers name from CUDA 12.9 on. Older libraries refuse
/// it as not supported.
inline constexpr auto compute_bf16x9 = static_cast<cublasComputeType_t>(78);

/// A matrix product in cuBLASLt's form: D (m x n) = op(A) (m x k) op(B) (k x n), column-major,
/// `batch` times. A row-major matrix is the transpose of the same memory read column-major. So
/// row-major y = x w is D = y^T = w^T x^T: A is the second factor and B the first.
struct MatmulPlan {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  bool a_transposed = false;
  bool b_transposed = false;
  std::int64_t a_leading = 0, b_leading = 0, d_leading = 0;
  std::int64_t a_stride = 0, b_stride = 0, d_stride = 0;  // between matrices of the batch
  cudaDataType_t factors = CUDA_R_32F;
  cudaDataType_t result = CUDA_R_32F;
  cudaDataType_t scale = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::int8_t fast_accumulation = 0;
  const BlockFormat* blocks = nullptr;  // of both factors, if they are block-scaled

  bool operator==(const MatmulPlan&) const = default;
};

/// Tensors of one product, and the bias [m] for an epilogue that adds one. Scales of block-scaled
/// factors lie in tiles (kernels/cuda/block_scales.h).
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;
  void* d = nullptr;
  const void* a_scales = nullptr;
  const void* b_scales = nullptr;
};

/// CUDA's name of a dtype. Throws DeviceError(unsupported) for a dtype that has none.
cudaDataType_t data_type(DType dtype);

/// y [batch][out] = x [batch][in] w [out][in]^T, with factors of `format` and y of `result`. f32
/// means FP32: no TF32, no emulation; tf32 and bf16x9 allow the library to use them. Floats of 16
/// bits and less are summed in f32, i8 in i32. Throws DeviceError(unsupported), also for extents
/// that the library does not support: `in` and `out` must be multiples of 16 for e4m3, mxfp8 and
/// nvfp4 (its `in` of 32), of 4 for i8.
MatmulPlan layer_plan(Format format, DType result, std::int64_t batch, std::int64_t in,
                      std::int64_t out);

/// dx [batch][in] = dy [batch][out] w [out][in], and dw [out][in] = dy [batch][out]^T x
/// [batch][in].
MatmulPlan dx_plan(Format format, DType result, std::int64_t batch, std::int64_t in,
                   std::int64_t out);
MatmulPlan dw_plan(Format format, DType result, std::int64_t batch, std::int64_t in,
                   std::int64_t out);

/// y [batch][m][n] = a [batch][m][k] b [batch][k][n].
MatmulPlan batched_plan(Format format, DType result, std::int64_t batch, std::int64_t m,
                        std::int64_t n, std::int64_t k);

/// Summation mode of GPUs of this compute capability for products in a format, as far as it is
/// published. An H100 stays within it (docs/results/2026-11-26-h100-sxm).
///
/// - f16, bf16, tf32: tensor cores add 4 products (V100, T4; for tf32 A100), or 8 (A100), to a sum
///   that keeps 24 bits, and truncate. Fasi, Higham, Mikaitis, Pranesh: "Numerical behavior of
///   NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021. Later GPUs are treated like A100:
///   units that add more at once truncate less often, and so stay within the declared bound.
/// - e4m3: units of 32 products keep about 14 bits. DeepSeek-AI: "DeepSeek-V3 Technical Report",
///   arXiv 2412.19437, 2024, section 3.3.2, about H800. Without fast accumulation the library adds
///   such sums in f32, and may be far better.
/// - mxfp8, nvfp4: units of Blackwell keep more than the 24 bits of an f32 of products of 8-bit
///   floats, and truncate. Khattak, Mikaitis: "Accurate models of NVIDIA tensor cores", arXiv
///   2512.07004, 2025. Nobody has published as much for scaled blocks.
/// - bf16x9: products of bf16 parts, and so like bf16.
///
/// Returns the default for f64, f32 and integers.
MathMode matmul_mode(Format format, int major);

/// Throws DeviceError(not_here) if a GPU of this compute capability has no units for products in
/// the format. The library may still compute tf32, and bf16x9, in FP32. cuBLAS has bf16x9 on a
/// subset of Blackwell GPUs (CUDA 12.9, release notes): here those of compute capability 10.x.
void require_units(Format format, int major, int minor);

/// Library epilogue for an activation and a bias. Empty if the library has no equal function: its
/// GELU is the tanh form, by a tanh that may be approximate (about 2^-11), and integers have no
/// epilogue.
std::optional<cublasLtEpilogue_t> epilogue_of(const std::string& act, bool bias, Format format);

}  // namespace assay::cuda
