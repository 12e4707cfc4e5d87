#pragma once

#include <cublasLt.h>

#include <string>

namespace assay::cuda {

/// cuBLASLt, opened on first use: a missing library costs products alone. Each member is the
/// library's function of that name.
class CublasLt {
 public:
  static const CublasLt& instance();

  /// Why it cannot be used; empty when it can.
  const std::string& problem() const { return problem_; }
  /// "cuBLASLt 13.0.0"; empty without the library.
  std::string version_text() const;

  decltype(&cublasLtGetVersion) get_version = nullptr;
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristics = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_attribute = nullptr;
  decltype(&cublasLtMatmulDescCreate) create_product = nullptr;
  decltype(&cublasLtMatmulDescDestroy) destroy_product = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) set_product = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = nullptr;
  decltype(&cublasLtMatrixLayoutSetAttribute) set_layout = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;

 private:
  CublasLt();
  std::string problem_;
};

/// What a status of the library means for the trial: throws DeviceError unless it is success.
/// Only CUBLAS_STATUS_NOT_SUPPORTED is `unsupported`: an invalid value or a wrong architecture is a
/// mistake of ours, which would skip every product and leave the run green.
void check(cublasStatus_t status, const char* call);

}  // namespace assay::cuda
