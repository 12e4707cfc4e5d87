#include "emulator/libraries/cublas/handle.h"

#include <fmt/format.h>

#include "emulator/libraries/cublas/missing_call.h"
#include "emulator/libraries/live_objects.h"
#include "emulator/runtime/lacking.h"

namespace emulator::cublas {

std::shared_ptr<Handle> find(cublasHandle_t handle) {
  return LiveObjects<Handle>::all().find(handle);
}

cublasStatus_t lacks(const char* call, const char* what) {
  say_lacking(fmt::format("{}{} is not emulated", call, what));
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

int missing_call(const char* name) { return lacks(name); }

namespace {

/// Sets or gets a part of a handle.
template <class T>
cublasStatus_t set(cublasHandle_t handle, T Handle::*part, T value) {
  const auto found = find(handle);
  if (found == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  (*found).*part = value;
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t get(cublasHandle_t handle, T Handle::*part, T* value) {
  const auto found = find(handle);
  if (found == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *value = (*found).*part;
  return CUBLAS_STATUS_SUCCESS;
}

/// Copies `count` rows of `bytes`, whose starts lie apart. Without a stream the host waits.
cublasStatus_t copy(void* to, std::ptrdiff_t to_apart, const void* from, std::ptrdiff_t from_apart,
                    int bytes, int count, cudaMemcpyKind kind, const cudaStream_t* stream) {
  if (count < 0 || bytes <= 0 || to_apart < bytes || from_apart < bytes)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (count == 0) return CUBLAS_STATUS_SUCCESS;
  const auto size = [](std::ptrdiff_t value) { return static_cast<std::size_t>(value); };
  const cudaError_t error =
      stream == nullptr
          ? cudaMemcpy2D(to, size(to_apart), from, size(from_apart), size(bytes), size(count), kind)
          : cudaMemcpy2DAsync(to, size(to_apart), from, size(from_apart), size(bytes), size(count),
                              kind, *stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace
}  // namespace emulator::cublas

using namespace emulator::cublas;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  auto made = std::make_shared<Handle>();
  if (cudaGetDevice(&made->device) != cudaSuccess ||
      cublasLtCreate(&made->products) != CUBLAS_STATUS_SUCCESS)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle =
      reinterpret_cast<cublasHandle_t>(emulator::LiveObjects<Handle>::all().add(std::move(made)));
  return CUBLAS_STATUS_SUCCESS;
}

/// cublasDestroy waits for the device.
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (!emulator::LiveObjects<Handle>::all().remove(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  cudaDeviceSynchronize();
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (handle != nullptr && find(handle) == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (type) {
    case MAJOR_VERSION:
      *value = CUBLAS_VER_MAJOR;
      return CUBLAS_STATUS_SUCCESS;
    case MINOR_VERSION:
      *value = CUBLAS_VER_MINOR;
      return CUBLAS_STATUS_SUCCESS;
    case PATCH_LEVEL:
      *value = CUBLAS_VER_PATCH;
      return CUBLAS_STATUS_SUCCESS;
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return set(handle, &Handle::stream, stream);
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return get(handle, &Handle::stream, stream);
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return set(handle, &Handle::pointer_mode, mode);
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return get(handle, &Handle::pointer_mode, mode);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return set(handle, &Handle::atomics, mode);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return get(handle, &Handle::atomics, mode);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return set(handle, &Handle::math, mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return get(handle, &Handle::math, mode);
}

/// The algorithms that are chosen need none.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* /*workspace*/, size_t /*bytes*/) {
  return find(handle) == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define NAME(status) \
  case status:       \
    return #status
    NAME(CUBLAS_STATUS_SUCCESS);
    NAME(CUBLAS_STATUS_NOT_INITIALIZED);
    NAME(CUBLAS_STATUS_ALLOC_FAILED);
    NAME(CUBLAS_STATUS_INVALID_VALUE);
    NAME(CUBLAS_STATUS_ARCH_MISMATCH);
    NAME(CUBLAS_STATUS_MAPPING_ERROR);
    NAME(CUBLAS_STATUS_EXECUTION_FAILED);
    NAME(CUBLAS_STATUS_INTERNAL_ERROR);
    NAME(CUBLAS_STATUS_NOT_SUPPORTED);
    NAME(CUBLAS_STATUS_LICENSE_ERROR);
#undef NAME
  }
  return "unknown status";
}
const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int incx, void* y, int incy) {
  return copy(y, std::ptrdiff_t{incy} * bytes, x, std::ptrdiff_t{incx} * bytes, bytes, n,
              cudaMemcpyHostToDevice, nullptr);
}
cublasStatus_t cublasGetVector(int n, int bytes, const void* x, int incx, void* y, int incy) {
  return copy(y, std::ptrdiff_t{incy} * bytes, x, std::ptrdiff_t{incx} * bytes, bytes, n,
              cudaMemcpyDeviceToHost, nullptr);
}
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b,
                               int ldb) {
  return copy(b, std::ptrdiff_t{ldb} * bytes, a, std::ptrdiff_t{lda} * bytes, rows * bytes, cols,
              cudaMemcpyHostToDevice, nullptr);
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b,
                               int ldb) {
  return copy(b, std::ptrdiff_t{ldb} * bytes, a, std::ptrdiff_t{lda} * bytes, rows * bytes, cols,
              cudaMemcpyDeviceToHost, nullptr);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int bytes, const void* a, int lda, void* b,
                                    int ldb, cudaStream_t stream) {
  return copy(b, std::ptrdiff_t{ldb} * bytes, a, std::ptrdiff_t{lda} * bytes, rows * bytes, cols,
              cudaMemcpyHostToDevice, &stream);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int bytes, const void* a, int lda, void* b,
                                    int ldb, cudaStream_t stream) {
  return copy(b, std::ptrdiff_t{ldb} * bytes, a, std::ptrdiff_t{lda} * bytes, rows * bytes, cols,
              cudaMemcpyDeviceToHost, &stream);
}

}  // extern "C"
