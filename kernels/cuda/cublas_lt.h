#pragma once

#include <cublasLt.h>

#include <string>

namespace assay::cuda {

/// cuBLASLt, opened on first use: only products need the library. Each member is the library's
/// function of that name.
class CublasLt {
 public:
  static const CublasLt& instance();
  /// Lets the library use bf16x9 wherever it can, not only where it expects that to be faster than
  /// FP32 (cublasEmulationStrategy_t). Has no effect where emulation is not asked for. Not beside
  /// other threads, which may be reading the environment.
  static void set_environment();

  /// Reason why the library cannot be used; empty if it can.
  const std::string& problem() const { return problem_; }
  /// Handle of the current GPU, for all products of this process: to make one takes memory on the
  /// GPU and milliseconds. Never destroyed: at the process's end the driver may be gone.
  cublasLtHandle_t handle() const;
  /// "cuBLASLt 13.0.0"; empty without the library.
  std::string version_text() const;

  decltype(&cublasLtGetVersion) get_version = nullptr;
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristics = nullptr;
  decltype(&cublasLtMatmulAlgoCheck) check_algorithm = nullptr;
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

/// Name that tells an algorithm from all others: "algorithm 13, tile 0, stages 0, split-K 1,
/// option 2". Attributes beyond the first four are in it where they are not 0.
std::string algorithm_text(const cublasLtMatmulAlgo_t& algorithm,
                           decltype(&cublasLtMatmulAlgoConfigGetAttribute) attribute);

/// Throws DeviceError unless the status is success. Only CUBLAS_STATUS_NOT_SUPPORTED maps to
/// `unsupported`: an invalid value or a wrong architecture is our own mistake, and as `unsupported`
/// it would skip every product and leave the run green.
void check(cublasStatus_t status, const char* call);

}  // namespace assay::cuda
