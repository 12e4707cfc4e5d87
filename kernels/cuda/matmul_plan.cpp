#include "kernels/cuda/matmul_plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "kernels/core/status.h"

namespace assay::cuda {
namespace {

/// Mode of tensor cores that truncate 24-bit sums.
constexpr MathMode truncating(int step) {
  return {.rounding = MathMode::Rounding::truncation, .step = step};
}

/// Support of cuBLASLt and of the units of GPUs for products in a format.
struct Units {
  Format format;
  int needed = 0;  // least compute capability, 10 major + minor
  MathMode mode = {};
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool has_scale_mode = true;  // of the library, for blocks
};

using enum ProductFormat;

constexpr std::array all_units{
    Units{.format = DType::f64, .compute = CUBLAS_COMPUTE_64F},
    Units{.format = DType::i8, .compute = CUBLAS_COMPUTE_32I},
    Units{.format = DType::f16, .mode = truncating(8)},
    Units{.format = DType::bf16, .mode = truncating(8)},
    Units{tf32, 80, truncating(4), CUBLAS_COMPUTE_32F_FAST_TF32},
    Units{bf16x9, 100, truncating(8), compute_bf16x9},
    Units{DType::e4m3,
          89,
          {.accumulator_bits = 14, .rounding = MathMode::Rounding::truncation, .step = 32}},
    Units{mxfp8, 100, truncating(32)},
    Units{nvfp4, 100, truncating(32)},
    Units{.format = mxfp4, .has_scale_mode = false},
};

Units units_of(Format format) {
  const auto* const found = std::ranges::find(all_units, format, &Units::format);
  return found == all_units.end() ? Units{.format = format} : *found;
}

/// Sets the types in which products in `format` are summed and scaled.
void set_types(MatmulPlan& plan, Format format, DType result) {
  plan.blocks = block_format(format);
  plan.factors = plan.blocks == nullptr                ? data_type(format.stored())
                 : plan.blocks->elements_per_byte == 2 ? CUDA_R_4F_E2M1
                                                       : CUDA_R_8F_E4M3;
  plan.result = data_type(result);
  plan.compute = units_of(format).compute;
  plan.scale = data_type(accumulator(format));
}

/// Checks before the library does: it would return the status of a mistake of ours. Its
/// documentation (cublasLtMatmul) requires rows of 16 bytes for floats of 8 and 4 bits, and for
/// integers leading dimensions, m and k that are multiples of 4.
void require_extents(Format format, std::int64_t in, std::int64_t out) {
  const BlockFormat* blocks = block_format(format);
  const bool is_narrow = blocks != nullptr || format == DType::e4m3;
  const std::int64_t unit = is_narrow ? 16 : format == DType::i8 ? 4 : 1;
  const std::int64_t in_unit = blocks != nullptr ? unit * blocks->elements_per_byte : unit;
  if (in % in_unit == 0 && out % unit == 0) return;
  throw DeviceError(Failure::unsupported,
                    "cuBLASLt multiplies " + std::string(name(format)) +
                        " where in is a multiple of " + std::to_string(in_unit) + " and out of " +
                        std::to_string(unit) + ", not in=" + std::to_string(in) +
                        ", out=" + std::to_string(out));
}

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

MatmulPlan layer_plan(Format format, DType result, std::int64_t batch, std::int64_t in,
                      std::int64_t out) {
  require_extents(format, in, out);
  MatmulPlan plan{.m = out,
                  .n = batch,
                  .k = in,
                  .a_transposed = true,  // w [out][in], read in columns, is w^T
                  .a_leading = in,
                  .b_leading = in,
                  .d_leading = out};
  set_types(plan, format, result);
  return plan;
}

MatmulPlan dx_plan(Format format, DType result, std::int64_t batch, std::int64_t in,
                   std::int64_t out) {
  return batched_plan(format, result, 1, batch, in, out);
}

MatmulPlan dw_plan(Format format, DType result, std::int64_t batch, std::int64_t in,
                   std::int64_t out) {
  MatmulPlan plan{.m = in,
                  .n = out,
                  .k = batch,
                  .b_transposed = true,  // dy [batch][out], read in columns, is dy^T
                  .a_leading = in,
                  .b_leading = out,
                  .d_leading = in};
  set_types(plan, format, result);
  return plan;
}

MatmulPlan batched_plan(Format format, DType result, std::int64_t batch, std::int64_t m,
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
  set_types(plan, format, result);
  return plan;
}

MathMode matmul_mode(Format format, int major) {
  MathMode mode = units_of(format).mode;
  if (major < 8) mode.step = std::min(mode.step, 4);
  return mode;
}

void require_units(Format format, int major, int minor) {
  const std::string products = "products of " + std::string(name(format));
  const Units units = units_of(format);
  if (!units.has_scale_mode) {
    throw DeviceError(Failure::not_here, "cuBLASLt has no scale mode for " + products);
  }
  const std::string here = ", not " + std::to_string(major) + "." + std::to_string(minor);
  if (format == bf16x9 && major != 10) {
    throw DeviceError(Failure::not_here,
                      products + " need a GPU of compute capability 10.x" + here);
  }
  if (10 * major + minor >= units.needed) return;
  throw DeviceError(Failure::not_here, products + " need a GPU of compute capability " +
                                           std::to_string(units.needed / 10) + "." +
                                           std::to_string(units.needed % 10) + here);
}

std::optional<cublasLtEpilogue_t> epilogue_of(const std::string& act, bool bias, Format format) {
  if (act == "none" && !bias) return CUBLASLT_EPILOGUE_DEFAULT;
  if (!is_floating(format)) return std::nullopt;
  if (act == "none") return CUBLASLT_EPILOGUE_BIAS;
  if (act == "relu") return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  return std::nullopt;
}

}  // namespace assay::cuda
