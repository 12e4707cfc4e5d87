#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/cpu/exponentials.h"
#include "kernels/cpu/rowwise.h"

// Softmax and layernorm along the axis n of (outer, n, inner). Loops run along the rows, which are
// contiguous.
namespace assay::cpu {
namespace {

/// Calls `body(task)` for groups of columns, as many as fit into a cache beside each other, but of
/// few columns so few that each thread has some.
template <class Body>
void for_columns(const AxisExtents& extents, std::int64_t element_bytes, const Body& body) {
  constexpr std::int64_t min_columns = 16, max_columns = 256;
  const std::int64_t share = extents.lines() / (4 * omp_get_max_threads());
  const std::int64_t columns =
      std::clamp(share / min_columns * min_columns, min_columns, max_columns);
  const std::int64_t groups = (extents.inner + columns - 1) / columns;
#pragma omp parallel for schedule(static) if (extents.elements() * element_bytes > parallel_bytes)
  for (std::int64_t i = 0; i < extents.outer * groups; ++i) {
    const std::int64_t outer = i / groups;
    const std::int64_t first = i % groups * columns;
    body(Columns{.element = outer * extents.n * extents.inner + first,
                 .line = outer * extents.inner + first,
                 .count = std::min(columns, extents.inner - first),
                 .part = 0,
                 .first_row = 0,
                 .rows = extents.n});
  }
}

template <class C, class T>
ASSAY_VECTOR_CLONES void softmax_rows(const Exponentials<C>* columns, const T* x, T* y,
                                      std::int64_t rows, std::int64_t step, std::int64_t count) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const from = x + row * step;
    T* const to = y + row * step;
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) {
      const C e = vector_exp_of_low(widened(from[i]) - columns[i].greatest);
      to[i] = static_cast<T>(e / columns[i].sum);
    }
  }
}

template <class C, class T>
ASSAY_VECTOR_CLONES void add_squares(C* squares, const C* means, const T* x, std::int64_t rows,
                                     std::int64_t step, std::int64_t count) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const from = x + row * step;
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) {
      const C distance = widened(from[i]) - means[i];
      squares[i] += distance * distance;
    }
  }
}

/// A row has one weight and one bias.
template <class C, class T>
ASSAY_VECTOR_CLONES void normalise_row(const C* means, const C* factors, C weight, C bias,
                                       const T* x, T* y, std::int64_t count) {
  ASSAY_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = static_cast<T>((widened(x[i]) - means[i]) * factors[i] * weight + bias);
  }
}

std::unique_ptr<Kernel> softmax(const OpInstance& op, const Binding& binding) {
  if (AxisExtents(op.signature.inputs[0]).inner == 1) return softmax_of_rows(op, binding);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    using C = Computed<T>;
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const AxisExtents extents(op.signature.inputs[0]);
    return std::make_unique<FunctionKernel>("libmvec exp, OpenMP columns", [=] {
      for_columns(extents, sizeof(T), [=](const Columns& task) {
        std::vector<Exponentials<C>> columns(static_cast<std::size_t>(task.count));
        ExponentialsOfColumns<T>().reduce(x, extents, task, columns.data());
        for (Exponentials<C>& column : columns) {
          // Infinity less itself: no number of the column has a share.
          if (std::isinf(column.greatest)) column.sum = std::numeric_limits<C>::quiet_NaN();
        }
        softmax_rows(columns.data(), x + task.element, y + task.element, task.rows, extents.inner,
                     task.count);
      });
    });
  });
}

/// Computes the variance from differences to the mean, which do not cancel.
template <class T>
void normalise_columns(const AxisExtents& extents, const Columns& task, const T* x, const T* weight,
                       const T* bias, T* y) {
  using C = Computed<T>;
  const auto count = static_cast<std::size_t>(task.count);
  const T* const from = x + task.element;
  std::vector<C> means(count, C{0});
  std::vector<C> factors(count, C{0});
  join_rows<Sum>(means.data(), from, task.rows, extents.inner, task.count);
  for (C& mean : means) mean /= static_cast<C>(extents.n);
  add_squares(factors.data(), means.data(), from, task.rows, extents.inner, task.count);
  for (C& factor : factors) factor = 1 / std::sqrt(factor / static_cast<C>(extents.n) + C(1e-5));
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const std::int64_t at = row * extents.inner;
    normalise_row(means.data(), factors.data(), widened(weight[row]), widened(bias[row]), from + at,
                  y + task.element + at, task.count);
  }
}

std::unique_ptr<Kernel> layernorm(const OpInstance& op, const Binding& binding) {
  if (AxisExtents(op.signature.inputs[0]).inner == 1) return layernorm_of_rows(op, binding);
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    const auto* weight = static_cast<const T*>(binding.inputs[1]);
    const auto* bias = static_cast<const T*>(binding.inputs[2]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const AxisExtents extents(op.signature.inputs[0]);
    return std::make_unique<FunctionKernel>("OpenMP columns", [=] {
      for_columns(extents, sizeof(T), [=](const Columns& task) {
        normalise_columns(extents, task, x, weight, bias, y);
      });
    });
  });
}

constexpr KernelRow rows[] = {
    {"softmax_axis", softmax},
    {"layernorm_axis", layernorm},
};

}  // namespace

std::span<const KernelRow> columnwise_kernels() { return rows; }

}  // namespace assay::cpu
