#include "kernels/cuda/matmul_plan.h"

#include <limits>
#include <string>

#include "kernels/core/block_format.h"
#include "kernels/core/status.h"

namespace assay::cuda {
namespace {

/// Sets the types in which products of `dtype` are summed and scaled.
void set_types(MatmulPlan& plan, DType dtype, DType result) {
  plan.blocks = block_format(dtype);
  plan.factors = plan.blocks == nullptr                ? data_type(stored_dtype(dtype))
                 : plan.blocks->elements_per_byte == 2 ? CUDA_R_4F_E2M1
                                                       : CUDA_R_8F_E4M3;
  plan.result = data_type(result);
  switch (accumulator(dtype)) {
    case DType::f64:
      plan.compute = CUBLAS_COMPUTE_64F;
      plan.scale = CUDA_R_64F;
      return;
    case DType::i32:
      plan.compute = CUBLAS_COMPUTE_32I;
      plan.scale = CUDA_R_32I;
      return;
    default:
      plan.compute = dtype == DType::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
      if (dtype == DType::bf16x9) plan.compute = compute_bf16x9;
      plan.scale = CUDA_R_32F;
  }
}

/// Checks before the library does: it would return the status of a mistake of ours. Its
/// documentation (cublasLtMatmul) requires rows of 16 bytes for floats of 8 and 4 bits, and for
/// integers leading dimensions, m and k that are multiples of 4.
void require_extents(DType dtype, std::int64_t in, std::int64_t out) {
  const BlockFormat* format = block_format(dtype);
  const bool is_narrow = format != nullptr || dtype == DType::e4m3;
  const std::int64_t unit = is_narrow ? 16 : dtype == DType::i8 ? 4 : 1;
  const std::int64_t in_unit = format != nullptr ? unit * format->elements_per_byte : unit;
  if (in % in_unit == 0 && out % unit == 0) return;
  throw DeviceError(Failure::unsupported,
                    "cuBLASLt multiplies " + std::string(name(dtype)) +
                        " where in is a multiple of " + std::to_string(in_unit) + " and out of " +
                        std::to_string(unit) + ", not in=" + std::to_string(in) +
                        ", out=" + std::to_string(out));
}

/// Mode of tensor cores that truncate 24-bit sums.
MathMode truncating(int step) { return {.rounding = MathMode::Rounding::truncation, .step = step}; }

}  // namespace

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::f32:
      return CUDA_R_32F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f16:
      return CUDA_R_16F;
    case DType::i32:
      return CUDA_R_32I;
    case DType::i8:
      return CUDA_R_8I;
    case DType::e4m3:
      return CUDA_R_8F_E4M3;
    default:
      throw DeviceError(Failure::unsupported,
                        "cuBLASLt has no matrices of " + std::string(name(dtype)));
  }
}

MatmulPlan layer_plan(DType dtype, DType result, std::int64_t batch, std::int64_t in,
                      std::int64_t out) {
  require_extents(dtype, in, out);
  MatmulPlan plan{.m = out,
                  .n = batch,
                  .k = in,
                  .a_transposed = true,  // w [out][in], read in columns, is w^T
                  .a_leading = in,
                  .b_leading = in,
                  .d_leading = out};
  set_types(plan, dtype, result);
  return plan;
}

MatmulPlan batched_plan(DType dtype, DType result, std::int64_t batch, std::int64_t m,
                        std::int64_t n, std::int64_t k) {
  if (batch > std::numeric_limits<std::int32_t>::max()) {
    throw DeviceError(Failure::unsupported, "cuBLASLt counts the products of a batch in 32 bits");
  }
  MatmulPlan plan{.m = n,
                  .n = m,
                  .k = k,
                  .batch = batch,
                  .a_leading = n,
                  .b_leading = k,
                  .d_leading = n,
                  .a_stride = k * n,
                  .b_stride = m * k,
                  .d_stride = m * n};
  set_types(plan, dtype, result);
  return plan;
}

MathMode matmul_mode(DType dtype, int major) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16:
    case DType::bf16x9:
      return truncating(major < 8 ? 4 : 8);
    case DType::tf32:
      return truncating(4);
    case DType::e4m3:
      return {.accumulator_bits = 14, .rounding = MathMode::Rounding::truncation, .step = 32};
    case DType::mxfp8:
    case DType::nvfp4:
      return truncating(32);
    default:
      return {};
  }
}

void require_units(DType dtype, int major, int minor) {
  const BlockFormat* format = block_format(dtype);
  const bool has_mode =
      format == nullptr || format->has_e4m3_scales == (format->elements_per_byte == 2);
  if (!has_mode) {
    throw DeviceError(Failure::not_here,
                      "cuBLASLt has no scale mode for products of " + std::string(name(dtype)));
  }
  if (dtype == DType::bf16x9 && major != 10) {
    throw DeviceError(Failure::not_here,
                      "products of bf16x9 need a GPU of compute capability 10.x, not " +
                          std::to_string(major) + "." + std::to_string(minor));
  }
  const int needed = format != nullptr      ? 100
                     : dtype == DType::tf32 ? 80
                     : dtype == DType::e4m3 ? 89
                                            : 0;
  if (10 * major + minor >= needed) return;
  throw DeviceError(Failure::not_here, "products of " + std::string(name(dtype)) +
                                           " need a GPU of compute capability " +
                                           std::to_string(needed / 10) + "." +
                                           std::to_string(needed % 10) + ", not " +
                                           std::to_string(major) + "." + std::to_string(minor));
}

std::optional<cublasLtEpilogue_t> epilogue_of(const std::string& act, bool bias, DType dtype) {
  if (act == "none" && !bias) return CUBLASLT_EPILOGUE_DEFAULT;
  if (!is_floating(dtype)) return std::nullopt;
  if (act == "none") return CUBLASLT_EPILOGUE_BIAS;
  if (act == "relu") return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  return std::nullopt;
}

}  // namespace assay::cuda
