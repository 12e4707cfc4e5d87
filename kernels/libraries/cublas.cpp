// cuBLAS by its interface of version 2, opened by name: `--kernels cublas`, for GPUs alone.
// ASSAY_LIBRARY in the environment names another file of the same. The functions, their types and
// what pointer modes mean: https://docs.nvidia.com/cuda/cublas.
#include <cublas_v2.h>

#include <map>
#include <string>

#include "kernels/libraries/library.h"
#include "kernels/libraries/opened.h"
#include "kernels/libraries/products.h"

namespace assay::libraries {
namespace {

const Opened& cublas() {
  const auto of_version = [](int version) { return "libcublas.so." + std::to_string(version); };
  static const Opened opened({of_version(CUBLAS_VER_MAJOR), of_version(CUBLAS_VER_MAJOR - 1)},
                             "the CUDA toolkit and Python's package nvidia-cublas have it");
  return opened;
}

void check(cublasStatus_t status, const std::string& call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  static const auto text = cublas().need<decltype(cublasGetStatusString)>("cublasGetStatusString");
  throw std::runtime_error(call + ": " + text(status));
}

/// Calls a function of the library. F is its type.
template <class F, class... Arguments>
void call(const std::string& name, Arguments... arguments) {
  check(cublas().need<F>(name)(arguments...), name);
}

std::string version() {
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    call<decltype(cublasGetProperty)>("cublasGetProperty", part, &number);
    text += (text.empty() ? "" : ".") + std::to_string(number);
  }
  return text;
}

/// The handle of a GPU, which lives as long as the process.
cublasHandle_t handle_of(const Problem& problem) {
  static std::map<int, cublasHandle_t> handles;
  const auto [place, is_new] = handles.try_emplace(problem.device_index(), nullptr);
  if (is_new) call<decltype(cublasCreate_v2)>("cublasCreate_v2", &place->second);
  return place->second;
}

/// Makes a launch of `enqueue`, which gets the addresses; scalars of the calls lie in the memory of
/// `scalars`.
template <class Enqueue>
Made on_stream(const Problem& problem, cublasPointerMode_t scalars, std::string algorithm,
               Enqueue enqueue) {
  return {[=, handle = handle_of(problem)](const void* const* in, void* const* out, void* stream) {
            call<decltype(cublasSetStream_v2)>("cublasSetStream_v2", handle,
                                               static_cast<cudaStream_t>(stream));
            call<decltype(cublasSetPointerMode_v2)>("cublasSetPointerMode_v2", handle, scalars);
            enqueue(handle, in, out);
          },
          std::move(algorithm)};
}

struct Types {
  cudaDataType_t stored;
  cublasComputeType_t computed;
};

Types types_of(std::string_view dtype) {
  if (dtype == "f64") return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
  if (dtype == "f32") return {CUDA_R_32F, CUBLAS_COMPUTE_32F};
  if (dtype == "tf32") return {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
  return {dtype == "bf16" ? CUDA_R_16BF : CUDA_R_16F, CUBLAS_COMPUTE_32F};
}

/// The header overloads their names.
using Gemm = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                            const void*, const void*, cudaDataType_t, int, const void*,
                            cudaDataType_t, int, const void*, void*, cudaDataType_t, int,
                            cublasComputeType_t, cublasGemmAlgo_t);
using BatchedGemm = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                   int, const void*, const void*, cudaDataType_t, int, long long,
                                   const void*, cudaDataType_t, int, long long, const void*, void*,
                                   cudaDataType_t, int, long long, int, cublasComputeType_t,
                                   cublasGemmAlgo_t);

/// The library's matrices lie in columns: rows of y are the columns of its transposed, b^T a^T.
Made products(const Problem& problem) {
  const Products p = products_of(problem);
  const Types types = types_of(problem.dtype());
  const auto op = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const int m = extent(p.m);
  const int n = extent(p.n);
  const int k = extent(p.k);
  const int row_of_a = extent(p.row_of_a());
  const int row_of_b = extent(p.row_of_b());
  const int batch = extent(p.batch);
  const bool is_f64 = problem.dtype() == "f64";
  const std::string name = batch > 1 ? "cublasGemmStridedBatchedEx" : "cublasGemmEx";
  return on_stream(
      problem, CUBLAS_POINTER_MODE_HOST, name,
      [=](cublasHandle_t handle, const void* const* in, void* const* out) {
        const double one = 1, zero = 0;
        const float one_of_f32 = 1, zero_of_f32 = 0;
        const void* const alpha = is_f64 ? static_cast<const void*>(&one) : &one_of_f32;
        const void* const beta = is_f64 ? static_cast<const void*>(&zero) : &zero_of_f32;
        if (batch == 1) {
          call<Gemm>(name, handle, op(p.b_transposed), op(p.a_transposed), n, m, k, alpha, in[1],
                     types.stored, row_of_b, in[0], types.stored, row_of_a, beta, out[0],
                     types.stored, n, types.computed, CUBLAS_GEMM_DEFAULT);
          return;
        }
        call<BatchedGemm>(name, handle, op(p.b_transposed), op(p.a_transposed), n, m, k, alpha,
                          in[1], types.stored, row_of_b, p.k * p.n, in[0], types.stored, row_of_a,
                          p.m * p.k, beta, out[0], types.stored, n, p.m * p.n, batch,
                          types.computed, CUBLAS_GEMM_DEFAULT);
      });
}

template <class T>
std::string with_letter(const char* rest) {
  return std::string("cublas") + (sizeof(T) == 4 ? "S" : "D") + rest;
}

/// The type of cublasSdot_v2 and cublasDdot_v2, and likewise below.
template <class T>
using Dot = cublasStatus_t(cublasHandle_t, int, const T*, int, const T*, int, T*);
template <class T>
using Norm = cublasStatus_t(cublasHandle_t, int, const T*, int, T*);
template <class T>
using Copy = cublasStatus_t(cublasHandle_t, int, const T*, int, T*, int);
template <class T>
using Scale = cublasStatus_t(cublasHandle_t, int, const T*, T*, int);

template <class T>
Made dot(const Problem& problem) {
  const std::string name = with_letter<T>("dot_v2");
  return on_stream(problem, CUBLAS_POINTER_MODE_DEVICE, name,
                   [name, n = extent(elements(problem.input(0)))](
                       cublasHandle_t handle, const void* const* in, void* const* out) {
                     call<Dot<T>>(name, handle, n, static_cast<const T*>(in[0]), 1,
                                  static_cast<const T*>(in[1]), 1, static_cast<T*>(out[0]));
                   });
}

template <class T>
Made norm2(const Problem& problem) {
  const std::string name = with_letter<T>("nrm2_v2");
  return on_stream(problem, CUBLAS_POINTER_MODE_DEVICE, name,
                   [name, n = extent(elements(problem.input(0)))](
                       cublasHandle_t handle, const void* const* in, void* const* out) {
                     call<Norm<T>>(name, handle, n, static_cast<const T*>(in[0]), 1,
                                   static_cast<T*>(out[0]));
                   });
}

/// y = x a, by a copy that is scaled in place.
template <class T>
Made scale(const Problem& problem) {
  const std::string copy = with_letter<T>("copy_v2");
  const std::string name = with_letter<T>("scal_v2");
  return on_stream(problem, CUBLAS_POINTER_MODE_DEVICE, copy + ", " + name,
                   [copy, name, n = extent(elements(problem.input(0)))](
                       cublasHandle_t handle, const void* const* in, void* const* out) {
                     auto* y = static_cast<T*>(out[0]);
                     call<Copy<T>>(copy, handle, n, static_cast<const T*>(in[0]), 1, y, 1);
                     call<Scale<T>>(name, handle, n, static_cast<const T*>(in[1]), y, 1);
                   });
}

Library open() {
  Library library{.name = "cuBLAS " + version(), .on_cpu = false, .on_gpus = true};
  for (const char* op : {"linear", "linear_dx", "linear_dw", "batched_matmul"}) {
    library.offers.push_back({op, "f64,f32,bf16,f16,tf32", products});
  }
  library.offers.push_back({"dot", "f32,f64", of_dtype<dot<float>, dot<double>>});
  library.offers.push_back({"norm2", "f32,f64", of_dtype<norm2<float>, norm2<double>>});
  library.offers.push_back({"scale", "f32,f64", of_dtype<scale<float>, scale<double>>});
  return library;
}

}  // namespace
}  // namespace assay::libraries

extern "C" __attribute__((visibility("default"))) const assay_kernel_table* assay_kernels() {
  return assay::libraries::table_of(assay::libraries::open);
}
