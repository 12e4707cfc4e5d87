// The functions of libcublasLt that the backend opens. CUBLASLT_LOG_LEVEL=1, a variable of the real
// library, prints why a call was refused.

#include <cublasLt.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "emulator/libraries/cublas_lt/algorithms.h"
#include "emulator/libraries/cublas_lt/descriptors.h"
#include "emulator/libraries/cublas_lt/product.h"
#include "emulator/libraries/cublas_lt/product_time.h"
#include "emulator/libraries/cublas_lt/rules.h"
#include "emulator/libraries/faults.h"
#include "emulator/libraries/live_objects.h"
#include "emulator/runtime/work.h"

namespace emulator::cublas_lt {
namespace {

struct Context {
  int device = 0;
};

cublasStatus_t refused(const char* call, const Refusal& refusal) {
  const char* level = std::getenv("CUBLASLT_LOG_LEVEL");
  if (level != nullptr && std::atoi(level) > 0) {
    std::fprintf(stderr, "[cublasLt][Error][%s] status %d: %s\n", call, refusal.status,
                 refusal.reason.c_str());
  }
  return refusal.status;
}
cublasStatus_t invalid(const char* call, const std::string& reason) {
  return refused(call, {CUBLAS_STATUS_INVALID_VALUE, reason});
}

/// The object behind a handle: null if it is not live.
template <class T>
std::shared_ptr<T> behind(const void* handle) {
  return LiveObjects<T>::all().find(handle);
}

template <class T, class Handle>
cublasStatus_t create(Handle* handle, const T& object, const char* call) {
  if (handle == nullptr) return invalid(call, "null");
  *handle = reinterpret_cast<Handle>(LiveObjects<T>::all().add(std::make_shared<T>(object)));
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t destroy(const void* handle, const char* call) {
  if (handle == nullptr || LiveObjects<T>::all().remove(handle)) return CUBLAS_STATUS_SUCCESS;
  return invalid(call, "not such an object, or destroyed before");
}

/// "CUBLAS_STATUS_INVALID_VALUE if buf is NULL or sizeInBytes doesn't match size of internal
/// storage for selected attribute".
template <class T, class Which>
cublasStatus_t set(const void* handle, Which which, const void* buf, std::size_t bytes,
                   const char* call) {
  const auto object = behind<T>(handle);
  if (object == nullptr || buf == nullptr) return invalid(call, "null");
  const Attribute place = attribute(*object, which);
  const std::string name = "attribute " + std::to_string(static_cast<int>(which));
  if (place.place == nullptr) return invalid(call, name + " does not exist");
  if (place.bytes != bytes) {
    return invalid(call, name + " has " + std::to_string(place.bytes) + " bytes, not " +
                             std::to_string(bytes));
  }
  std::memcpy(place.place, buf, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

/// Copies the descriptors of a call. Empty if one is null.
std::optional<Problem> problem_of(cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
                                  cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                  cublasLtMatrixLayout_t d) {
  if (c == nullptr) c = d;  // "If Cdesc is omitted, this function assumes it to be equal to Ddesc."
  const auto p = behind<ProductDescription>(product);
  const std::shared_ptr<MatrixLayout> layouts[] = {behind<MatrixLayout>(a), behind<MatrixLayout>(b),
                                                   behind<MatrixLayout>(c),
                                                   behind<MatrixLayout>(d)};
  for (const auto& layout : layouts) {
    if (layout == nullptr) return std::nullopt;
  }
  if (p == nullptr) return std::nullopt;
  return Problem{*p, *layouts[0], *layouts[1], *layouts[2], *layouts[3]};
}

/// alpha and beta have the scale type.
double value_of(const void* host, cudaDataType_t type) {
  double f64 = 0;
  float f32 = 0;
  std::int32_t i32 = 0;
  switch (type) {
    case CUDA_R_64F:
      std::memcpy(&f64, host, sizeof f64);
      return f64;
    case CUDA_R_32I:
      std::memcpy(&i32, host, sizeof i32);
      return i32;
    default:
      std::memcpy(&f32, host, sizeof f32);
      return f32;
  }
}

Factor factor_of(const void* pointer, const ProductDescription& product) {
  if (product.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE) {
    return {.value = 0, .address = reinterpret_cast<std::uintptr_t>(pointer)};
  }
  return {.value = value_of(pointer, product.scale_type()), .address = 0};
}

/// "The cuBLASLt library context is tied to the current CUDA device" (cublasLtCreate).
Verdict device_refusal(const Context& context, cudaStream_t stream) {
  int of_stream = 0;
  int current = 0;
  if (device_of(stream, &of_stream) != cudaSuccess || cudaGetDevice(&current) != cudaSuccess) {
    return Refusal{CUBLAS_STATUS_INVALID_VALUE, "no such stream"};
  }
  if (of_stream != context.device) {
    return Refusal{CUBLAS_STATUS_INVALID_VALUE, "the handle was created on another device"};
  }
  // A launch on a stream of another device than the current one fails.
  if (of_stream != current) {
    return Refusal{CUBLAS_STATUS_EXECUTION_FAILED, "the stream's device is not the current one"};
  }
  return std::nullopt;
}

/// cublasLtMatmul: the workspace "must be aligned to at least 256 bytes".
Verdict workspace_refusal(std::size_t needed, const void* workspace, std::size_t bytes) {
  if (bytes > 0 && workspace == nullptr) {
    return Refusal{CUBLAS_STATUS_INVALID_VALUE, "the workspace is null"};
  }
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) {
    return Refusal{CUBLAS_STATUS_INVALID_VALUE, "the workspace is not aligned to 256 bytes"};
  }
  if (bytes < needed) {
    return Refusal{CUBLAS_STATUS_INVALID_VALUE,
                   "the algorithm needs a workspace of " + std::to_string(needed) + " bytes"};
  }
  return std::nullopt;
}

/// The given algorithm, or, if null, the first that the search proposes.
std::optional<Algorithm> algorithm_of(const cublasLtMatmulAlgo_t* given, const Problem& problem,
                                      std::size_t workspace) {
  if (given != nullptr) return unpacked(*given);
  for (const Proposal& proposal : proposals(problem, {.max_workspace_bytes = workspace})) {
    const Algorithm& algorithm = proposal.algorithm;
    if (proposal.state == CUBLAS_STATUS_SUCCESS && !algorithm.is_refused_when_launched) {
      return algorithm;
    }
  }
  return std::nullopt;
}

}  // namespace
}  // namespace emulator::cublas_lt

using namespace emulator::cublas_lt;

extern "C" {

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  Context context;
  if (cudaGetDevice(&context.device) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  return create(handle, context, "cublasLtCreate");
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (behind<Context>(handle) == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return destroy<Context>(handle, "cublasLtDestroy");
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  ProductDescription description;
  description.compute = compute;
  description.scale = scale;
  return create(product, description, "cublasLtMatmulDescCreate");
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  return destroy<ProductDescription>(product, "cublasLtMatmulDescDestroy");
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t which, const void* buf,
                                              size_t bytes) {
  return set<ProductDescription>(product, which, buf, bytes, "cublasLtMatmulDescSetAttribute");
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t cols, int64_t leading) {
  MatrixLayout l;
  l.type = type;
  l.rows = rows;
  l.cols = cols;
  l.leading = leading;
  return create(layout, l, "cublasLtMatrixLayoutCreate");
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<MatrixLayout>(layout, "cublasLtMatrixLayoutDestroy");
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void* buf, size_t bytes) {
  return set<MatrixLayout>(layout, which, buf, bytes, "cublasLtMatrixLayoutSetAttribute");
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(preference, Preference{}, "cublasLtMatmulPreferenceCreate");
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<Preference>(preference, "cublasLtMatmulPreferenceDestroy");
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void* buf, size_t bytes) {
  return set<Preference>(preference, which, buf, bytes, "cublasLtMatmulPreferenceSetAttribute");
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* count) {
  constexpr const char* call = "cublasLtMatmulAlgoGetHeuristic";
  const auto context = behind<Context>(handle);
  if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto problem = problem_of(product, a, b, c, d);
  const auto wanted = behind<Preference>(preference);
  if (!problem || wanted == nullptr || results == nullptr || count == nullptr) {
    return invalid(call, "null");
  }
  *count = 0;
  if (requested <= 0) return invalid(call, "no results are requested");
  if (emulator::has_fault(emulator::LibraryFault::invalid_plans)) {
    return invalid(call, "the fault invalid_plans");
  }
  const auto& gpu = emulator::model_of(emulator::gpu_of(context->device));
  if (const auto why = refusal(*problem, gpu)) return refused(call, *why);
  for (const Proposal& proposal : proposals(*problem, *wanted)) {
    if (*count == requested) break;
    cublasLtMatmulHeuristicResult_t& result = results[(*count)++];
    result = {};
    result.algo = packed(proposal.algorithm);
    result.workspaceSize = proposal.workspace_bytes;
    result.state = proposal.state;
    result.wavesCount = 1;
  }
  if (*count == 0) return refused(call, {CUBLAS_STATUS_NOT_SUPPORTED, "no algorithm is left"});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  constexpr const char* call = "cublasLtMatmulAlgoCheck";
  const auto context = behind<Context>(handle);
  if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto problem = problem_of(product, a, b, c, d);
  if (!problem || algorithm == nullptr || result == nullptr) return invalid(call, "null");
  const auto& gpu = emulator::model_of(emulator::gpu_of(context->device));
  if (const auto why = refusal(*problem, gpu)) return refused(call, *why);
  const auto configured = unpacked(*algorithm);
  if (!configured) return invalid(call, "not an algorithm of this library");
  if (const auto why = refusal(*configured, *problem)) return refused(call, *why);
  result->workspaceSize = workspace_bytes(*configured, *problem);
  result->wavesCount = 1;
  result->state = CUBLAS_STATUS_SUCCESS;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t which,
                                                    void* buf, size_t bytes, size_t* written) {
  constexpr const char* call = "cublasLtMatmulAlgoConfigGetAttribute";
  if (algorithm == nullptr) return invalid(call, "null");
  const auto a = unpacked(*algorithm);
  if (!a) return invalid(call, "not an algorithm of this library");
  std::uint32_t value = 0;
  std::size_t size = sizeof value;
  switch (which) {
    case CUBLASLT_ALGO_CONFIG_ID:
      value = static_cast<std::uint32_t>(a->id);
      break;
    case CUBLASLT_ALGO_CONFIG_TILE_ID:
      value = a->tile;
      break;
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM:
      value = static_cast<std::uint32_t>(a->split_k);
      break;
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME:
      value = a->reduction_scheme;
      break;
    case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING:
      value = a->swizzling;
      break;
    case CUBLASLT_ALGO_CONFIG_STAGES_ID:
      value = a->stages;
      break;
    case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION:
      value = static_cast<std::uint32_t>(a->slice);
      break;
    case CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID:
    case CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID:
      size = sizeof(std::uint16_t);
      break;
    default:
      return invalid(call, "this stand-in has no such attribute");
  }
  // "if sizeInBytes is 0 and sizeWritten is NULL" is invalid; 0 bytes ask for the size.
  if (bytes == 0 && written == nullptr) return invalid(call, "neither a size nor a place for it");
  if (written != nullptr) *written = size;
  if (bytes == 0) return CUBLAS_STATUS_SUCCESS;
  if (buf == nullptr || bytes != size) return invalid(call, "another size than the attribute's");
  std::memcpy(buf, &value, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_size, cudaStream_t stream) {
  constexpr const char* call = "cublasLtMatmul";
  const auto context = behind<Context>(handle);
  if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto problem = problem_of(product, a_layout, b_layout, c_layout, d_layout);
  if (!problem) return invalid(call, "a descriptor is null or destroyed");
  if (alpha == nullptr || beta == nullptr) return invalid(call, "alpha or beta is null");
  const int gpu = emulator::gpu_of(context->device);
  if (const auto why = refusal(*problem, emulator::model_of(gpu))) return refused(call, *why);
  Launch launch{.problem = *problem,
                .algorithm = {},
                .alpha = factor_of(alpha, problem->product),
                .beta = factor_of(beta, problem->product)};
  const bool c_is_used = launch.beta.address != 0 || launch.beta.value != 0;
  const Pointers pointers{alpha, a, b, beta, c, d, c_is_used};
  if (const auto why = refusal(*problem, pointers)) return refused(call, *why);
  const auto chosen = algorithm_of(algorithm, *problem, workspace_size);
  if (!chosen) return invalid(call, "not an algorithm of this library");
  if (const auto why = refusal(*chosen, *problem, pointers)) return refused(call, *why);
  const std::size_t needed = workspace_bytes(*chosen, *problem);
  if (const auto why = workspace_refusal(needed, workspace, workspace_size)) {
    return refused(call, *why);
  }
  if (const auto why = device_refusal(*context, stream)) return refused(call, *why);
  const auto address = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  };
  launch.algorithm = *chosen;
  launch.a = address(a);
  launch.b = address(b);
  launch.c = address(c);
  launch.d = address(d);
  launch.bias = address(problem->product.bias);
  launch.workspace = needed == 0 ? 0 : address(workspace);
  launch.gpu = gpu;
  const cudaError_t enqueued = emulator::enqueue(stream, call, [launch] {
    static std::atomic<std::uint64_t> launches{0};
    const auto& model = emulator::model_of(launch.gpu);
    emulator::check_watchdog(model, product_time_s(launch.problem, model), call);
    std::this_thread::sleep_for(drawn_time(launch.algorithm));
    execute(launch, launches++);
    return emulator::Step::done;
  });
  if (enqueued != cudaSuccess) {
    return refused(call, {CUBLAS_STATUS_EXECUTION_FAILED, "the launch failed"});
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
