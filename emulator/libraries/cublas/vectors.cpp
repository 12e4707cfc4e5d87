// Level 1: operations on vectors of f32 and f64. Sums are made in f64, one after another: their
// bits are no GPU's.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include "emulator/libraries/cublas/handle.h"
#include "emulator/runtime/work.h"

namespace emulator::cublas {
namespace {

/// Elements in device memory; a negative step begins at the end.
template <class T>
class Elements {
 public:
  Elements(const void* data, int n, int step, int gpu, const char* call)
      : begin_(reinterpret_cast<std::uintptr_t>(data)),
        n_(n),
        step_(step),
        gpu_(gpu),
        call_(call) {}
  T get(int i) const {
    T value;
    std::memcpy(&value, view(i, Access::read), sizeof value);
    return value;
  }
  void set(int i, T value) const { std::memcpy(view(i, Access::write), &value, sizeof value); }

 private:
  std::byte* view(int i, Access access) const {
    const std::int64_t at = std::int64_t{step_ < 0 ? i - (n_ - 1) : i} * step_;
    return memory().view(begin_ + static_cast<std::uint64_t>(at) * sizeof(T), sizeof(T), access,
                         gpu_, call_);
  }
  std::uintptr_t begin_;
  int n_, step_, gpu_;
  const char* call_;
};

/// A factor or a result, of the host or of the device.
template <class T>
struct Scalar {
  std::uintptr_t device = 0;  // 0: `host`
  T host{};

  Scalar(const Handle& handle, const T* from) {
    if (handle.pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
      device = reinterpret_cast<std::uintptr_t>(from);
    else
      host = *from;
  }
  T get(int gpu, const char* call) const {
    return device == 0 ? host
                       : Elements<T>(reinterpret_cast<void*>(device), 1, 1, gpu, call).get(0);
  }
};

using Body = std::function<void(int gpu)>;

cublasStatus_t enqueue_on(const Handle& handle, const char* call, Body body) {
  int device = 0;
  if (device_of(handle.stream, &device) != cudaSuccess || device != handle.device)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  const int gpu = gpu_of(device);
  const cudaError_t error = enqueue(handle.stream, call, [gpu, body = std::move(body)] {
    body(gpu);
    return Step::done;
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// Runs `body` on vectors, which nobody has where n is 0.
cublasStatus_t run(cublasHandle_t handle, const char* call, int n,
                   const std::function<Body(const Handle&)>& make) {
  const auto found = find(handle);
  if (found == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return enqueue_on(*found, call, make(*found));
}

/// Runs `body` and gives its result to the host, which waits for it, or to the device.
template <class R>
cublasStatus_t reduce(cublasHandle_t handle, const char* call, int n, R* result,
                      const std::function<R(int gpu)>& body) {
  const auto found = find(handle);
  if (found == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_host = found->pointer_mode == CUBLAS_POINTER_MODE_HOST;
  if (is_host && n <= 0) {
    *result = 0;
    return CUBLAS_STATUS_SUCCESS;
  }
  const cublasStatus_t status = enqueue_on(*found, call, [=](int gpu) {
    const R value = n <= 0 ? R{0} : body(gpu);
    if (is_host)
      *result = value;
    else
      Elements<R>(result, 1, 1, gpu, call).set(0, value);
  });
  if (status != CUBLAS_STATUS_SUCCESS || !is_host) return status;
  return cudaStreamSynchronize(found->stream) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                             : CUBLAS_STATUS_EXECUTION_FAILED;
}

template <class T>
cublasStatus_t axpy(const char* call, cublasHandle_t handle, int n, const T* alpha, const T* x,
                    int incx, T* y, int incy) {
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, call, n, [=](const Handle& h) -> Body {
    return [=, factor = Scalar<T>(h, alpha)](int gpu) {
      const Elements<T> from(x, n, incx, gpu, call), to(y, n, incy, gpu, call);
      const T a = factor.get(gpu, call);
      for (int i = 0; i < n; ++i) to.set(i, a * from.get(i) + to.get(i));
    };
  });
}

template <class T>
cublasStatus_t scal(const char* call, cublasHandle_t handle, int n, const T* alpha, T* x,
                    int incx) {
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return run(handle, call, incx <= 0 ? 0 : n, [=](const Handle& h) -> Body {
    return [=, factor = Scalar<T>(h, alpha)](int gpu) {
      const Elements<T> all(x, n, incx, gpu, call);
      const T a = factor.get(gpu, call);
      for (int i = 0; i < n; ++i) all.set(i, a * all.get(i));
    };
  });
}

template <class T>
cublasStatus_t copy(const char* call, cublasHandle_t handle, int n, const T* x, int incx, T* y,
                    int incy, bool swaps) {
  return run(handle, call, n, [=](const Handle&) -> Body {
    return [=](int gpu) {
      const Elements<T> from(x, n, incx, gpu, call), to(y, n, incy, gpu, call);
      for (int i = 0; i < n; ++i) {
        const T value = from.get(i);
        if (swaps) from.set(i, to.get(i));
        to.set(i, value);
      }
    };
  });
}

template <class T>
cublasStatus_t dot(const char* call, cublasHandle_t handle, int n, const T* x, int incx, const T* y,
                   int incy, T* result) {
  return reduce<T>(handle, call, n, result, [=](int gpu) {
    const Elements<T> a(x, n, incx, gpu, call), b(y, n, incy, gpu, call);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += double{a.get(i)} * double{b.get(i)};
    return static_cast<T>(sum);
  });
}

/// The sum of what `part` makes of each element, and then `whole` of the sum.
template <class T>
cublasStatus_t norm(const char* call, cublasHandle_t handle, int n, const T* x, int incx, T* result,
                    double (*part)(double), double (*whole)(double)) {
  return reduce<T>(handle, call, incx <= 0 ? 0 : n, result, [=](int gpu) {
    const Elements<T> all(x, n, incx, gpu, call);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += part(double{all.get(i)});
    return static_cast<T>(whole(sum));
  });
}

double magnitude(double x) { return std::fabs(x); }
double square(double x) { return x * x; }
double root(double x) { return std::sqrt(x); }
double itself(double x) { return x; }

/// The first of the largest, or of the smallest, magnitudes, counted from 1.
template <class T>
cublasStatus_t extreme(const char* call, cublasHandle_t handle, int n, const T* x, int incx,
                       int* result, bool largest) {
  return reduce<int>(handle, call, incx <= 0 ? 0 : n, result, [=](int gpu) {
    const Elements<T> all(x, n, incx, gpu, call);
    int best = 0;
    for (int i = 1; i < n; ++i) {
      const T value = std::fabs(all.get(i)), before = std::fabs(all.get(best));
      if (largest ? value > before : value < before) best = i;
    }
    return best + 1;
  });
}

}  // namespace
}  // namespace emulator::cublas

using namespace emulator::cublas;

extern "C" {

#define VECTORS(L, l, T)                                                                           \
  cublasStatus_t cublas##L##axpy_v2(cublasHandle_t h, int n, const T* alpha, const T* x, int incx, \
                                    T* y, int incy) {                                              \
    return axpy("cublas" #L "axpy", h, n, alpha, x, incx, y, incy);                                \
  }                                                                                                \
  cublasStatus_t cublas##L##scal_v2(cublasHandle_t h, int n, const T* alpha, T* x, int incx) {     \
    return scal("cublas" #L "scal", h, n, alpha, x, incx);                                         \
  }                                                                                                \
  cublasStatus_t cublas##L##copy_v2(cublasHandle_t h, int n, const T* x, int incx, T* y,           \
                                    int incy) {                                                    \
    return copy("cublas" #L "copy", h, n, x, incx, y, incy, false);                                \
  }                                                                                                \
  cublasStatus_t cublas##L##swap_v2(cublasHandle_t h, int n, T* x, int incx, T* y, int incy) {     \
    return copy("cublas" #L "swap", h, n, x, incx, y, incy, true);                                 \
  }                                                                                                \
  cublasStatus_t cublas##L##dot_v2(cublasHandle_t h, int n, const T* x, int incx, const T* y,      \
                                   int incy, T* result) {                                          \
    return dot("cublas" #L "dot", h, n, x, incx, y, incy, result);                                 \
  }                                                                                                \
  cublasStatus_t cublas##L##nrm2_v2(cublasHandle_t h, int n, const T* x, int incx, T* result) {    \
    return norm("cublas" #L "nrm2", h, n, x, incx, result, square, root);                          \
  }                                                                                                \
  cublasStatus_t cublas##L##asum_v2(cublasHandle_t h, int n, const T* x, int incx, T* result) {    \
    return norm("cublas" #L "asum", h, n, x, incx, result, magnitude, itself);                     \
  }                                                                                                \
  cublasStatus_t cublasI##l##amax_v2(cublasHandle_t h, int n, const T* x, int incx, int* result) { \
    return extreme("cublasI" #l "amax", h, n, x, incx, result, true);                              \
  }                                                                                                \
  cublasStatus_t cublasI##l##amin_v2(cublasHandle_t h, int n, const T* x, int incx, int* result) { \
    return extreme("cublasI" #l "amin", h, n, x, incx, result, false);                             \
  }
VECTORS(S, s, float)
VECTORS(D, d, double)
#undef VECTORS

}  // extern "C"
