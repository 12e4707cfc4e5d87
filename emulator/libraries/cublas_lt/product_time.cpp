#include "emulator/libraries/cublas_lt/product_time.h"

namespace emulator::cublas_lt {
namespace {

/// Operations per clock and multiprocessor of compute capability 8.6; a multiplication and an
/// addition count as two. "NVIDIA Ampere GA102 GPU Architecture", table of the RTX 3090: 35.6
/// TFLOPS of FP32 and TF32, 71 of FP16 and BF16 added in FP32, 284 TOPS of INT8, on 82
/// multiprocessors at 1695 MHz; FP64 at 1/64 of FP32.
double operations_per_clock(const Problem& p) {
  switch (p.a.data_type()) {
    case CUDA_R_64F:
      return 4;
    case CUDA_R_32F:
      return 256;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 512;
    case CUDA_R_8I:
      return 2048;
    default:
      return 0;
  }
}

}  // namespace

double product_time_s(const Problem& p, const GpuModel& gpu) {
  const double each_clock = gpu.major == 8 && gpu.minor == 6 ? operations_per_clock(p) : 0;
  if (each_clock == 0) return 0;
  const double operations = 2.0 * static_cast<double>(p.m()) * static_cast<double>(p.n()) *
                            static_cast<double>(p.k()) * p.d.batch;
  return operations / (each_clock * gpu.multiprocessors * gpu.clock_khz * 1e3);
}

}  // namespace emulator::cublas_lt
