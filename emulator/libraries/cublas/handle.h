#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <memory>

namespace emulator::cublas {

/// The state of a handle of cuBLAS.
struct Handle {
  ~Handle() { cublasLtDestroy(products); }
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasLtHandle_t products = nullptr;
};

/// Null if it is not live.
std::shared_ptr<Handle> find(cublasHandle_t handle);

/// Says that a call, or what it is asked for, is not emulated. Returns CUBLAS_STATUS_NOT_SUPPORTED.
cublasStatus_t lacks(const char* call, const char* what = "");

}  // namespace emulator::cublas
