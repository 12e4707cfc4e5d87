#pragma once

#include <cublasLt.h>

#include <cstdint>

// Tables "Datatypes supported" of cublasLtMatmul in NVIDIA's cuBLAS documentation, for real numbers
// in column-major order.
namespace emulator::cublas_lt {

/// CUBLAS_COMPUTE_32F_EMULATED_16BFX9, which headers name from CUDA 12.9 on.
inline constexpr auto compute_bf16x9 = static_cast<cublasComputeType_t>(78);

struct Types {
  cublasComputeType_t compute;
  cudaDataType_t scale, a, b, c, d;
};

bool are_supported(const Types& types);
bool is_epilogue_supported(const Types& types, std::uint32_t epilogue);
bool is_bias_supported(const Types& types, cudaDataType_t bias);
/// Type of a bias for which BIAS_DATA_TYPE was left at -1: that of D, but for FP8 the type in the
/// table.
cudaDataType_t default_bias_type(cudaDataType_t a, cudaDataType_t c, cudaDataType_t d);

}  // namespace emulator::cublas_lt
