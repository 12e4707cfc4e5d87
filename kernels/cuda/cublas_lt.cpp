#include "kernels/cuda/cublas_lt.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

#include "kernels/core/status.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/library.h"

namespace assay::cuda {
namespace {

const Library& library() {
  // Opens the major version of the toolkit at compile time: other versions differ in interface.
  static const Library opened("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR),
                              library_folders());
  return opened;
}

}  // namespace

void CublasLt::set_environment() { setenv("CUBLAS_EMULATION_STRATEGY", "eager", 0); }

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
  find(matmul, "cublasLtMatmul");
  find(heuristics, "cublasLtMatmulAlgoGetHeuristic");
  find(check_algorithm, "cublasLtMatmulAlgoCheck");
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

cublasLtHandle_t CublasLt::handle() const {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  int ordinal = 0;
  check(cudaGetDevice(&ordinal), "cudaGetDevice");
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[ordinal];
  if (handle == nullptr) check(create(&handle), "cublasLtCreate");
  return handle;
}

std::string CublasLt::version_text() const {
  if (!problem_.empty()) return "";
  // The version 130002 means 13.0.2.
  const std::size_t version = get_version();
  return "cuBLASLt " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

std::string algorithm_text(const cublasLtMatmulAlgo_t& algorithm,
                           decltype(&cublasLtMatmulAlgoConfigGetAttribute) attribute) {
  struct Part {
    cublasLtMatmulAlgoConfigAttributes_t which;
    const char* name;
    std::size_t bytes;  // the library refuses another size
    bool always;
  };
  // Two algorithms can differ in the last five alone, in their bits too.
  constexpr Part parts[] = {{CUBLASLT_ALGO_CONFIG_ID, "algorithm", 4, true},
                            {CUBLASLT_ALGO_CONFIG_TILE_ID, "tile", 4, true},
                            {CUBLASLT_ALGO_CONFIG_STAGES_ID, "stages", 4, true},
                            {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, "split-K", 4, true},
                            {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, "reduction", 4, false},
                            {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, "swizzling", 4, false},
                            {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, "option", 4, false},
                            {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, "inner shape", 2, false},
                            {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, "cluster", 2, false}};
  std::string text;
  for (const Part& part : parts) {
    std::int32_t value = 0;  // whose first bytes are its lowest
    std::size_t written = 0;
    const bool known =
        attribute(&algorithm, part.which, &value, part.bytes, &written) == CUBLAS_STATUS_SUCCESS;
    if (known && value == 0 && !part.always) continue;
    text += (text.empty() ? "" : ", ") + std::string(part.name) + " " +
            (known ? std::to_string(value) : "unknown");
  }
  return text;
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
