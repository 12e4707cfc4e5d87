#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cpu/columns.h"
#include "kernels/cpu/neighbours.h"
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

/// y[i] = start + x[0] + ... + x[i]; returns the last sum.
template <class A, class T>
ASSAY_VECTOR_CLONES A scan_run(const T* x, T* y, std::int64_t n, A start) {
  constexpr auto count = static_cast<std::int64_t>(Neighbours<A>::count);
  Neighbours<A> before;
  before.set(start);
  std::int64_t i = 0;
  for (; i + count <= n; i += count) {
    Neighbours<A> sums;
    sums.load(x + i);
    sums.scan();
    sums.store(y + i, before);
  }
  start = before.sum();
  for (; i < n; ++i) {
    start += static_cast<A>(widened(x[i]));
    y[i] = static_cast<T>(start);
  }
  return start;
}

/// Scans any range, with stores past the caches if it `streams`.
template <class A, class T>
void scan_range(const T* x, T* y, std::int64_t n, A start, bool streams) {
  if (!streams) {
    scan_run(x, y, n, start);
    return;
  }
  constexpr std::int64_t staged = staged_bytes / static_cast<std::int64_t>(sizeof(T));
  std::array<T, static_cast<std::size_t>(staged)> stage;
  for (std::int64_t i = 0; i < n; i += staged) {
    const std::int64_t some = std::min(staged, n - i);
    start = scan_run(x + i, stage.data(), some, start);
    stream_out(y + i, stage.data(), static_cast<std::size_t>(some) * sizeof(T));
  }
  end_streaming();
}

/// Part of a round that a thread sums and, while the second cache still has it, scans.
constexpr std::int64_t part_bytes = 256 << 10;

/// Scans rounds of one part a thread. A part begins with the sum of all before it: of earlier
/// rounds, which each thread adds up for itself, and of other threads' parts of this one.
template <class A, class T>
void scan_blocks(const T* x, T* y, std::int64_t n) {
  if (2 * n * std::int64_t{sizeof(T)} <= parallel_bytes) return scan_range<A>(x, y, n, A{0}, false);
  const bool streams = exceeds_caches(2 * n * std::int64_t{sizeof(T)});
  // Sums of two rounds: a slow thread may still read the one when a fast one writes the other.
  std::array<std::vector<A>, 2> sums;
  sums.fill(std::vector<A>(static_cast<std::size_t>(omp_get_max_threads())));
#pragma omp parallel
  {
    const std::int64_t threads = omp_get_num_threads();
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t even = (n + threads - 1) / threads;
    const std::int64_t part = std::min<std::int64_t>(part_bytes / sizeof(T), (even + 63) / 64 * 64);
    A before = 0;
    for (std::int64_t begin = 0, round = 0; begin < n; begin += threads * part, ++round) {
      std::vector<A>& of_round = sums[static_cast<std::size_t>(round % 2)];
      const std::int64_t first = std::min(n, begin + thread * part);
      const std::int64_t count = std::min(part, n - first);
      of_round[static_cast<std::size_t>(thread)] = sum_range<A>(x + first, count);
#pragma omp barrier
      A start = before;
      for (std::int64_t other = 0; other < threads; ++other) {
        if (other == thread) start = before;
        before += of_round[static_cast<std::size_t>(other)];
      }
      scan_range<A>(x + first, y + first, count, start, streams);
    }
  }
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
    return std::make_unique<FunctionKernel>("OpenMP parts, summed and scanned", [=] {
      scan_blocks<typename Accumulator<T>::type>(x, y, n);
    });
  });
}

constexpr KernelRow rows[] = {
    {"scan", scan},
    {"scan_axis", scan_along},
};

}  // namespace

std::span<const KernelRow> scan_kernels() { return rows; }

}  // namespace assay::cpu
