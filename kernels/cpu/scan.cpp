#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cpu/columns.h"
#include "kernels/cpu/reductions.h"

namespace assay::cpu {
namespace {

template <class A, class T>
ASSAY_VECTOR_CLONES A sum_range(const T* x, std::int64_t n) {
  A sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<A>(widened(x[i]));
  return sum;
}

/// Parts of a chunk scanned side by side: a single chain would wait for each addition.
constexpr std::size_t chains = 8;
constexpr std::int64_t chain_elements = 256;
constexpr std::int64_t chunk_elements = chain_elements * static_cast<std::int64_t>(chains);

/// y[i] = start + x[0] + ... + x[i] of a whole chunk; returns the last sum.
template <class A, class T>
A scan_chunk(const T* x, T* y, A start) {
  std::array<A, chains> sums;
  for (std::size_t k = 0; k < chains; ++k) {
    sums[k] = start;
    start += sum_range<A>(x + static_cast<std::int64_t>(k) * chain_elements, chain_elements);
  }
  for (std::int64_t i = 0; i < chain_elements; ++i) {
    for (std::size_t k = 0; k < chains; ++k) {
      const std::int64_t at = static_cast<std::int64_t>(k) * chain_elements + i;
      sums[k] += static_cast<A>(widened(x[at]));
      y[at] = static_cast<T>(sums[k]);
    }
  }
  return sums[chains - 1];
}

/// Scans any range, with stores past the caches if it `streams`.
template <class A, class T>
void scan_range(const T* x, T* y, std::int64_t n, A start, bool streams) {
  std::array<T, static_cast<std::size_t>(chunk_elements)> stage;
  std::int64_t i = 0;
  for (; i + chunk_elements <= n; i += chunk_elements) {
    start = scan_chunk<A>(x + i, streams ? stage.data() : y + i, start);
    if (streams) stream_out(y + i, stage.data(), sizeof stage);
  }
  for (; i < n; ++i) {
    start += static_cast<A>(widened(x[i]));
    y[i] = static_cast<T>(start);
  }
  end_streaming();
}

/// Sums a block on each thread, then scans it from the sum of the blocks before it.
template <class A, class T>
void scan_blocks(const T* x, T* y, std::int64_t n) {
  std::vector<A> sums(static_cast<std::size_t>(omp_get_max_threads()), A{0});
  const auto sum_of = [&](std::int64_t thread) -> A& {
    return sums[static_cast<std::size_t>(thread)];
  };
  parallel_blocks(n, 2 * sizeof(T),
                  [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                    sum_of(thread) = sum_range<A>(x + first, count);
                  });
  A before = 0;
  for (A& sum : sums) before += std::exchange(sum, before);
  const bool streams = exceeds_caches(2 * n * std::int64_t{sizeof(T)});
  parallel_blocks(n, 2 * sizeof(T),
                  [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                    scan_range<A>(x + first, y + first, count, sum_of(thread), streams);
                  });
}

/// Adds each row to the one before it; `sums` begins as the row before the first.
template <class A, class T>
ASSAY_VECTOR_CLONES void scan_rows(A* sums, const T* x, T* y, std::int64_t rows, std::int64_t step,
                                   std::int64_t count) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const from = x + row * step;
    T* const to = y + row * step;
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) {
      sums[i] += static_cast<A>(widened(from[i]));
      to[i] = static_cast<T>(sums[i]);
    }
  }
}

/// Scans columns. If there are few, first sums their parts, from whose sums it then begins.
template <class A, class T>
void scan_columns(const AxisExtents& extents, const T* x, T* y) {
  const ColumnPlan plan(extents, 2 * sizeof(T), omp_get_max_threads());
  std::vector<A> before(static_cast<std::size_t>(plan.parts() * extents.lines()), A{0});
  const auto before_part = [&](std::int64_t part, std::int64_t line) {
    return &before[static_cast<std::size_t>(part * extents.lines() + line)];
  };
#pragma omp parallel if (plan.is_parallel())
  {
    if (plan.parts() > 1) {
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < plan.tasks(); ++i) {
        const Columns task = plan.task(i);
        join_rows<Sum>(before_part(task.part, task.line), x + task.element, task.rows,
                       extents.inner, task.count);
      }
#pragma omp single
      for (std::int64_t line = 0; line < extents.lines(); ++line) {
        A sum = 0;
        for (std::int64_t part = 0; part < plan.parts(); ++part)
          sum += std::exchange(*before_part(part, line), sum);
      }
    }
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < plan.tasks(); ++i) {
      const Columns task = plan.task(i);
      scan_rows(before_part(task.part, task.line), x + task.element, y + task.element, task.rows,
                extents.inner, task.count);
    }
  }
}

/// Scans contiguous lines, each on one thread, or, if there are few, on all.
template <class A, class T>
void scan_lines(const AxisExtents& extents, const T* x, T* y) {
  const std::int64_t line_bytes = 2 * extents.n * std::int64_t{sizeof(T)};
  if (extents.outer < 2 * omp_get_max_threads() && line_bytes > parallel_bytes) {
    for (std::int64_t line = 0; line < extents.outer; ++line)
      scan_blocks<A>(x + line * extents.n, y + line * extents.n, extents.n);
    return;
  }
  const bool streams = exceeds_caches(extents.outer * line_bytes);
  parallel_blocks(
      extents.outer, line_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
        for (std::int64_t line = first; line < first + count; ++line)
          scan_range<A>(x + line * extents.n, y + line * extents.n, extents.n, A{0}, streams);
      });
}

std::unique_ptr<Kernel> scan_along(const OpInstance& op, const Binding& binding) {
  return for_dtypes(SignedNumbers{}, op, [&]<class T>(std::type_identity<T>) {
    using A = typename Accumulator<T>::type;
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const AxisExtents extents(op.signature.inputs[0]);
    const bool are_rows = extents.inner == 1;
    return std::make_unique<FunctionKernel>(are_rows ? "OpenMP lines" : "OpenMP columns", [=] {
      if (are_rows) {
        scan_lines<A>(extents, x, y);
      } else {
        scan_columns<A>(extents, x, y);
      }
    });
  });
}

std::unique_ptr<Kernel> scan(const OpInstance& op, const Binding& binding) {
  return for_dtypes(SignedNumbers{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t n = op.signature.inputs[0].elements();
    return std::make_unique<FunctionKernel>(
        "OpenMP blocks, two passes", [=] { scan_blocks<typename Accumulator<T>::type>(x, y, n); });
  });
}

constexpr KernelRow rows[] = {
    {"scan", scan},
    {"scan_axis", scan_along},
};

}  // namespace

std::span<const KernelRow> scan_kernels() { return rows; }

}  // namespace assay::cpu
