#include <limits>
#include <type_traits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

/// A NaN may or may not become the maximum; it reaches the sum, and so every element, either way.
template <class T>
ASSAY_VECTOR_CLONES void softmax_row(const T* x, T* y, std::int64_t cols) {
  T maximum = -std::numeric_limits<T>::infinity();
#pragma omp simd reduction(max : maximum)
  for (std::int64_t i = 0; i < cols; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < cols; ++i) {
    const T e = vector_exp(x[i] - maximum);
    y[i] = e;
    sum += e;
  }
#pragma omp simd
  for (std::int64_t i = 0; i < cols; ++i) y[i] /= sum;
}

std::unique_ptr<Kernel> softmax(const OpInstance& op, const Binding& binding) {
  return for_dtype<double, float>(op, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t rows = op.params.integer("rows");
    const std::int64_t cols = op.params.integer("cols");
    return std::make_unique<FunctionKernel>("libmvec exp, OpenMP over rows", [=] {
      const std::int64_t row_bytes = cols * std::int64_t{sizeof(T)};
      parallel_blocks(rows, row_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
        for (std::int64_t row = first; row < first + count; ++row) {
          softmax_row(x + row * cols, y + row * cols, cols);
        }
      });
    });
  });
}

constexpr KernelRow rows[] = {
    {"softmax", softmax},
};

}  // namespace

std::span<const KernelRow> rowwise_kernels() { return rows; }

}  // namespace assay::cpu
