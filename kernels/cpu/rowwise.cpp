#include "kernels/cpu/rowwise.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/cpu/map.h"
#include "kernels/cpu/vector_math.h"

namespace assay::cpu {
namespace {

/// y[i] = f(i), rounded once. GCC 12 gives a struct that is stored within `omp simd` memory for
/// each lane, and stays scalar.
template <class T, class F>
__attribute__((always_inline)) inline void store_row(T* y, std::int64_t cols, const F& f) {
  if constexpr (is_narrow_float<T>) {
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < cols; ++i) y[i] = static_cast<T>(f(i));
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < cols; ++i) y[i] = static_cast<T>(f(i));
  }
}

/// A NaN may or may not become the maximum. Either way it reaches the sum, and so every element.
/// The exponentials go to `work`, which is y itself if y can hold them.
template <class T>
ASSAY_VECTOR_CLONES void softmax_row(const T* x, T* y, Computed<T>* work, std::int64_t cols) {
  using C = Computed<T>;
  C maximum = -std::numeric_limits<C>::infinity();
#pragma omp simd reduction(max : maximum)
  for (std::int64_t i = 0; i < cols; ++i)
    maximum = widened(x[i]) > maximum ? widened(x[i]) : maximum;
  C sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < cols; ++i) {
    const C e = vector_exp_of_low(widened(x[i]) - maximum);
    work[i] = e;
    sum += e;
  }
  store_row(y, cols, [=](std::int64_t i) { return work[i] / sum; });
}

/// Computes the variance in a second pass over the row. One pass, the mean of squares less the
/// square of the mean, would cancel for rows far from zero.
template <class T>
ASSAY_VECTOR_CLONES void layernorm_row(const T* x, const T* weight, const T* bias, T* y,
                                       std::int64_t cols) {
  using C = Computed<T>;
  C sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < cols; ++i) sum += widened(x[i]);
  const C mean = sum / static_cast<C>(cols);
  C squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::int64_t i = 0; i < cols; ++i) {
    const C distance = widened(x[i]) - mean;
    squares += distance * distance;
  }
  const C deviation = std::sqrt(squares / static_cast<C>(cols) + C(1e-5));
  const C factor = 1 / deviation;
  store_row(y, cols, [=](std::int64_t i) {
    return (widened(x[i]) - mean) * factor * widened(weight[i]) + widened(bias[i]);
  });
}

template <class T>
ASSAY_VECTOR_CLONES void rmsnorm_row(const T* x, const T* weight, T* y, std::int64_t cols) {
  using C = Computed<T>;
  C squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::int64_t i = 0; i < cols; ++i) squares += widened(x[i]) * widened(x[i]);
  const C factor = 1 / std::sqrt(squares / static_cast<C>(cols) + C(1e-5));
  store_row(y, cols, [=](std::int64_t i) { return widened(x[i]) * factor * widened(weight[i]); });
}

struct Rows {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t step;  // from row to row, in elements

  explicit Rows(const TensorSpec& spec)
      : rows(spec.shape.at(0)),
        cols(spec.shape.at(1)),
        step(spec.is_dense() ? spec.shape.at(1) : spec.row_stride()) {}
};

/// f(x, y, cols) on each row.
template <class T, class F>
std::unique_ptr<Kernel> by_rows(const OpInstance& op, const Binding& binding, F f) {
  const auto* x = static_cast<const T*>(binding.inputs[0]);
  auto* y = static_cast<T*>(binding.outputs[0]);
  return std::make_unique<FunctionKernel>("OpenMP over rows", [=,
                                                               r = Rows(op.signature.outputs[0])] {
    const std::int64_t row_bytes = r.cols * std::int64_t{sizeof(T)};
    parallel_blocks(r.rows, row_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t row = first; row < first + count; ++row) {
        f(x + row * r.step, y + row * r.step, r.cols);
      }
    });
  });
}

std::unique_ptr<Kernel> rmsnorm(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    return by_rows<T>(
        op, binding,
        [weight = static_cast<const T*>(binding.inputs[1])](const T* x, T* y, std::int64_t cols) {
          rmsnorm_row(x, weight, y, cols);
        });
  });
}

constexpr KernelRow rows[] = {
    {"softmax", softmax_of_rows},
    {"layernorm", layernorm_of_rows},
    {"rmsnorm", rmsnorm},
};

}  // namespace

std::unique_ptr<Kernel> softmax_of_rows(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const Rows r(op.signature.outputs[0]);
    return std::make_unique<FunctionKernel>("libmvec exp, OpenMP over rows", [=] {
      const std::int64_t row_bytes = r.cols * std::int64_t{sizeof(T)};
      parallel_blocks(r.rows, row_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
        std::vector<float> exponentials(is_narrow_float<T> ? static_cast<std::size_t>(r.cols) : 0);
        for (std::int64_t row = first; row < first + count; ++row) {
          T* to = y + row * r.step;
          if constexpr (is_narrow_float<T>) {
            softmax_row(x + row * r.step, to, exponentials.data(), r.cols);
          } else {
            softmax_row(x + row * r.step, to, to, r.cols);
          }
        }
      });
    });
  });
}

std::unique_ptr<Kernel> layernorm_of_rows(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    return by_rows<T>(
        op, binding,
        [weight = static_cast<const T*>(binding.inputs[1]),
         bias = static_cast<const T*>(binding.inputs[2])](const T* x, T* y, std::int64_t cols) {
          layernorm_row(x, weight, bias, y, cols);
        });
  });
}

std::span<const KernelRow> rowwise_kernels() { return rows; }

}  // namespace assay::cpu
