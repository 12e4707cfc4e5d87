#pragma once

#include <cublasLt.h>

#include <optional>

// The steps after the sum, in FP32, or FP64 for products of FP64.
namespace emulator::cublas_lt {

struct Epilogue {
  double alpha = 1, beta = 0;
  double d_scale = 1;  // of 8-bit floats
  bool is_relu = false, is_gelu = false;
  bool is_f64 = false;
  cudaDataType_t result = CUDA_R_32F;

  /// Mistakes to make (faults.h): asked for once a launch, as they are looked up by name.
  struct Faults {
    bool gelu_tanh = false, late_bias = false, relu_drops_nan = false;
    static Faults chosen();
  } faults;
};

/// Returns D's element before it is rounded to `result`. `c` counts if beta is not 0.
double finished(const Epilogue& epilogue, double sum, double c, std::optional<double> bias);

}  // namespace emulator::cublas_lt
