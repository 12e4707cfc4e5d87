#include "emulator/libraries/cublas_lt/supported.h"

#include <algorithm>
#include <array>
#include <optional>

namespace emulator::cublas_lt {
namespace {

/// A and B, and C and D, have the same type.
struct Row {
  cublasComputeType_t compute;
  cudaDataType_t scale, factors, result;
  std::optional<cudaDataType_t> bias;  // without one no other epilogue either
};
/// Table "When A, B, C, and D are Regular Column- or Row-major Matrices".
constexpr std::array rows{
    Row{CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    Row{CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, {}},
    Row{CUBLAS_COMPUTE_32I, CUDA_R_32F, CUDA_R_8I, CUDA_R_8I, {}},
    Row{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF},
    Row{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    Row{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8I, CUDA_R_32F, {}},
    Row{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
    Row{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
    Row{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    Row{CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    Row{CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    Row{CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    Row{compute_bf16x9, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    Row{CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
};

/// The table of FP8: C, D and bias. A and B are E4M3 and E4M3, E4M3 and E5M2, or E5M2 and E4M3: two
/// matrices of E5M2 have no row. D is E5M2 only if a factor is.
struct Float8Row {
  cudaDataType_t c, d, bias;
};
constexpr std::array float8_rows{
    Float8Row{CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF},
    Float8Row{CUDA_R_16BF, CUDA_R_8F_E4M3, CUDA_R_16BF},
    Float8Row{CUDA_R_16BF, CUDA_R_8F_E5M2, CUDA_R_16BF},
    Float8Row{CUDA_R_16F, CUDA_R_8F_E4M3, CUDA_R_16F},
    Float8Row{CUDA_R_16F, CUDA_R_8F_E5M2, CUDA_R_16F},
    Float8Row{CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    Float8Row{CUDA_R_32F, CUDA_R_32F, CUDA_R_16BF},
};

bool is_float8(cudaDataType_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }
bool has_float8_rows(cudaDataType_t type) { return is_float8(type) || type == CUDA_R_4F_E2M1; }

/// A pedantic type has the rows of the plain one.
cublasComputeType_t plain(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUBLAS_COMPUTE_16F;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return CUBLAS_COMPUTE_32F;
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return CUBLAS_COMPUTE_64F;
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUBLAS_COMPUTE_32I;
    default:
      return compute;
  }
}

const Row* row_of(const Types& t) {
  const auto* const row = std::ranges::find_if(rows, [&](const Row& r) {
    return r.compute == plain(t.compute) && r.scale == t.scale && r.factors == t.a &&
           r.factors == t.b && r.result == t.c && r.result == t.d;
  });
  return row == rows.end() ? nullptr : row;
}

const Float8Row* float8_row_of(cudaDataType_t c, cudaDataType_t d) {
  const auto* const row =
      std::ranges::find_if(float8_rows, [&](const Float8Row& r) { return r.c == c && r.d == d; });
  return row == float8_rows.end() ? nullptr : row;
}

}  // namespace

bool are_supported(const Types& t) {
  if (t.a == CUDA_R_4F_E2M1 || t.b == CUDA_R_4F_E2M1) {
    // The rows of FP8 without results of FP8; results of FP4 need scales of their own.
    return t.a == t.b && t.compute == CUBLAS_COMPUTE_32F && t.scale == CUDA_R_32F &&
           !is_float8(t.d) && float8_row_of(t.c, t.d) != nullptr;
  }
  if (!is_float8(t.a) && !is_float8(t.b)) return row_of(t) != nullptr;
  const bool e5m2 = t.a == CUDA_R_8F_E5M2 || t.b == CUDA_R_8F_E5M2;
  return is_float8(t.a) && is_float8(t.b) && t.compute == CUBLAS_COMPUTE_32F &&
         t.scale == CUDA_R_32F && !(t.a == CUDA_R_8F_E5M2 && t.b == CUDA_R_8F_E5M2) &&
         (t.d != CUDA_R_8F_E5M2 || e5m2) && float8_row_of(t.c, t.d) != nullptr;
}

bool is_epilogue_supported(const Types& t, std::uint32_t epilogue) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      return true;
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS: {
      if (has_float8_rows(t.a)) return true;
      const Row* row = row_of(t);
      return row != nullptr && row->bias.has_value();
    }
    default:  // with an auxiliary matrix, or a gradient: not of this stand-in
      return false;
  }
}

bool is_bias_supported(const Types& t, cudaDataType_t bias) {
  if (has_float8_rows(t.a)) {
    const Float8Row* row = float8_row_of(t.c, t.d);
    return row != nullptr && row->bias == bias;
  }
  const Row* row = row_of(t);
  return row != nullptr && row->bias == bias;
}

cudaDataType_t default_bias_type(cudaDataType_t a, cudaDataType_t c, cudaDataType_t d) {
  if (!has_float8_rows(a)) return d;
  const Float8Row* row = float8_row_of(c, d);
  return row == nullptr ? d : row->bias;
}

}  // namespace emulator::cublas_lt
