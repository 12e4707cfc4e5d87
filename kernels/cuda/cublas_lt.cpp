#include "kernels/cuda/cublas_lt.h"

#include <cstdlib>

#include "kernels/core/status.h"
#include "kernels/cuda/library.h"

namespace assay::cuda {
namespace {

const Library& library() {
  // Uses bf16x9 wherever it can, not only where the library expects it to be faster than FP32
  // (cublasEmulationStrategy_t). Has no effect where emulation is not asked for.
  [[maybe_unused]] static const int set = setenv("CUBLAS_EMULATION_STRATEGY", "eager", 0);
  // Opens the major version of the toolkit at compile time: other versions differ in interface.
  static const Library opened("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR),
                              library_folders());
  return opened;
}

}  // namespace

const CublasLt& CublasLt::instance() {
  static const CublasLt opened;
  return opened;
}

CublasLt::CublasLt() {
  problem_ = library().problem();
  if (!problem_.empty()) return;
  const auto find = [&](auto& function, const char* name) {
    library().bind(function, name, problem_);
  };
  find(get_version, "cublasLtGetVersion");
  find(create, "cublasLtCreate");
  find(destroy, "cublasLtDestroy");
  find(matmul, "cublasLtMatmul");
  find(heuristics, "cublasLtMatmulAlgoGetHeuristic");
  find(algorithm_attribute, "cublasLtMatmulAlgoConfigGetAttribute");
  find(create_product, "cublasLtMatmulDescCreate");
  find(destroy_product, "cublasLtMatmulDescDestroy");
  find(set_product, "cublasLtMatmulDescSetAttribute");
  find(create_layout, "cublasLtMatrixLayoutCreate");
  find(destroy_layout, "cublasLtMatrixLayoutDestroy");
  find(set_layout, "cublasLtMatrixLayoutSetAttribute");
  find(create_preference, "cublasLtMatmulPreferenceCreate");
  find(destroy_preference, "cublasLtMatmulPreferenceDestroy");
  find(set_preference, "cublasLtMatmulPreferenceSetAttribute");
}

std::string CublasLt::version_text() const {
  if (!problem_.empty()) return "";
  // The version 130002 means 13.0.2.
  const std::size_t version = get_version();
  return "cuBLASLt " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

void check(cublasStatus_t status, const char* call) {
  Failure failure = Failure::internal;
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return;
    case CUBLAS_STATUS_ALLOC_FAILED:
      failure = Failure::out_of_memory;
      break;
    case CUBLAS_STATUS_NOT_SUPPORTED:
      failure = Failure::unsupported;
      break;
    default:
      break;
  }
  throw DeviceError(failure, std::string(call) + ": cuBLAS status " + std::to_string(status));
}

}  // namespace assay::cuda
