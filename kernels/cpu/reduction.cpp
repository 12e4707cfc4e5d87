#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/cpu/columns.h"
#include "kernels/cpu/exponentials.h"
#include "kernels/cpu/reductions.h"

namespace assay::cpu {
namespace {

/// Asks for what is read soon. Hardware does so within a page, and learns anew in each: lines of a
/// page or two are over before that.
inline void read_ahead(const void* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64)
    __builtin_prefetch(static_cast<const char*>(from) + i);
}
constexpr std::int64_t max_ahead_bytes = 16384;

/// Makes the kernel that fits the axis: of a whole array, of contiguous lines, or of columns. Few
/// lines that are long enough for all threads are arrays.
template <class T, class Array, class Line, class All>
std::unique_ptr<Kernel> by_lines(const OpInstance& op, const T* x, Array array, Line line,
                                 All columns) {
  const AxisExtents extents(op.signature.inputs[0]);
  if (extents.lines() == 1) {
    return std::make_unique<FunctionKernel>("OpenMP blocks", [=] { array(0, extents.n); });
  }
  if (extents.inner > 1) {
    return std::make_unique<FunctionKernel>("OpenMP columns", [=] { columns(extents); });
  }
  return std::make_unique<FunctionKernel>("OpenMP lines", [=] {
    const std::int64_t line_bytes = extents.n * std::int64_t{sizeof(T)};
    if (extents.outer < 2 * omp_get_max_threads() && line_bytes > parallel_bytes) {
      for (std::int64_t i = 0; i < extents.outer; ++i) array(i, extents.n);
      return;
    }
    parallel_blocks(extents.outer, line_bytes,
                    [&](std::int64_t, std::int64_t first, std::int64_t count) {
                      for (std::int64_t i = first; i < first + count; ++i) {
                        const bool is_last = i + 1 == first + count;
                        if (line_bytes <= max_ahead_bytes && !is_last)
                          read_ahead(x + (i + 1) * extents.n, line_bytes);
                        line(i, extents.n);
                      }
                    });
  });
}

std::unique_ptr<Kernel> norm2(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    using P = Computed<T>;
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const TensorSpec spec = op.signature.inputs[0];
    return by_lines<T>(
        op, x,
        [=](std::int64_t line, std::int64_t n) {
          y[line] = static_cast<T>(norm<P>(
              n, [=](const auto& reduction) { return reduce<P>(reduction, n, x + line * n); }));
        },
        [=](std::int64_t line, std::int64_t n) {
          y[line] = static_cast<T>(norm_of_line<P>(n, x + line * n));
        },
        [=](const AxisExtents& extents) {
          reduce_columns<Norm, P>(extents, x, [=](std::int64_t line, P squares) {
            P result = std::sqrt(squares);
            if (!is_safe_norm(result, extents.n)) {
              std::vector<T> column(static_cast<std::size_t>(extents.n));
              for (std::size_t i = 0; i < column.size(); ++i) {
                column[i] = x[spec.element_of_line(line, static_cast<std::int64_t>(i))];
              }
              result = norm_of_line<P>(extents.n, column.data());
            }
            y[line] = static_cast<T>(result);
          });
        });
  });
}

// --- Logarithms of sums of exponentials ----------------------------------------------------------

template <class T>
void log_sums_of_columns(const AxisExtents& extents, const T* x, T* y) {
  using Q = Exponentials<Computed<T>>;
  const ColumnPlan plan(extents, sizeof(T), omp_get_max_threads());
  std::vector<Q> parts(static_cast<std::size_t>(plan.parts() * extents.lines()));
#pragma omp parallel if (plan.is_parallel())
  {
    ExponentialsOfColumns<T> columns;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < plan.tasks(); ++i) {
      const Columns task = plan.task(i);
      Q* const own = &parts[static_cast<std::size_t>(task.part * extents.lines() + task.line)];
      columns.reduce(x, extents, task, own);
      for (std::int64_t j = 0; plan.parts() == 1 && j < task.count; ++j)
        y[task.line + j] = static_cast<T>(own[j].log_of_sum());
    }
  }
  if (plan.parts() == 1) return;
  for (std::int64_t line = 0; line < extents.lines(); ++line) {
    Q total = LogSumExp::nothing<Q>;
    for (std::int64_t part = 0; part < plan.parts(); ++part)
      total =
          LogSumExp::join(total, parts[static_cast<std::size_t>(part * extents.lines() + line)]);
    y[line] = static_cast<T>(total.log_of_sum());
  }
}

std::unique_ptr<Kernel> logsumexp(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    using Q = Exponentials<Computed<T>>;
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    return by_lines<T>(
        op, x,
        [=](std::int64_t line, std::int64_t n) {
          y[line] = static_cast<T>(reduce<Q>(LogSumExp{}, n, x + line * n).log_of_sum());
        },
        [=](std::int64_t line, std::int64_t n) {
          y[line] = static_cast<T>(reduce_line<Q>(LogSumExp{}, n, x + line * n).log_of_sum());
        },
        [=](const AxisExtents& extents) { log_sums_of_columns(extents, x, y); });
  });
}

template <class R, class Types>
std::unique_ptr<Kernel> reduction(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Types{}, op, [&]<class T>(std::type_identity<T>) {
    using P = typename R::template Partial<T>;
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    return by_lines<T>(
        op, x,
        [=](std::int64_t line, std::int64_t n) {
          y[line] = static_cast<T>(reduce<P>(R{}, n, x + line * n));
        },
        [=](std::int64_t line, std::int64_t n) {
          y[line] = static_cast<T>(reduce_line<P>(R{}, n, x + line * n));
        },
        [=](const AxisExtents& extents) {
          reduce_columns<R, P>(extents, x, [=](std::int64_t line, P total) {
            y[line] = static_cast<T>(R::finish(total, extents.n));
          });
        });
  });
}

std::unique_ptr<Kernel> dot(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* a = static_cast<const T*>(binding.inputs[0]);
    const auto* b = static_cast<const T*>(binding.inputs[1]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t n = op.signature.inputs[0].elements();
    return std::make_unique<FunctionKernel>(
        "OpenMP blocks", [=] { *y = static_cast<T>(reduce<Computed<T>>(Dot{}, n, a, b)); });
  });
}

// --- Places of extremes --------------------------------------------------------------------------

/// Number of elements searched at once.
constexpr std::int64_t search_elements = 128;

template <class T>
ASSAY_VECTOR_CLONES bool has_nan(std::int64_t n, const T* x) {
  int found = 0;
  if constexpr (!std::is_integral_v<T>) {
#pragma omp simd reduction(| : found)
    for (std::int64_t i = 0; i < n; ++i) found |= widened(x[i]) != widened(x[i]) ? 1 : 0;
  }
  return found != 0;
}

template <class A, class T>
ASSAY_VECTOR_CLONES bool has_value(std::int64_t n, const T* x, A value) {
  int found = 0;
#pragma omp simd reduction(| : found)
  for (std::int64_t i = 0; i < n; ++i) found |= widened(x[i]) == value ? 1 : 0;
  return found != 0;
}

/// True if `a` comes before `b`: it is nearer to the extreme, or alone a NaN.
template <class R, class P>
bool is_before(P a, P b) {
  const bool is_nearer = std::is_same_v<R, Maximum> ? a > b : a < b;
  return is_nearer || (is_nan(a) && !is_nan(b));
}

/// Lowest index of the extreme element, or of a NaN, in [first, first + count); -1 if that is
/// empty.
template <class R, class T>
std::int64_t place_in_range(const T* x, std::int64_t first, std::int64_t count) {
  using P = Computed<T>;
  P best{};
  std::int64_t block = -1;
  for (std::int64_t i = first; i < first + count; i += block_elements) {
    const P here = R::template of_block<P>(std::min(block_elements, first + count - i), x + i);
    if (block < 0 || is_before<R>(here, best)) {
      best = here;
      block = i;
    }
  }
  if (block < 0) return -1;
  const auto lacks_it = [best](std::int64_t n, const T* here) {
    return is_nan(best) ? !has_nan(n, here) : !has_value(n, here, best);
  };
  const std::int64_t end = std::min(block + block_elements, first + count);
  std::int64_t i = block;
  while (i < end && lacks_it(std::min(search_elements, end - i), x + i)) i += search_elements;
  for (; i < end; ++i) {
    if (widened(x[i]) == best || (is_nan(best) && is_nan(widened(x[i])))) return i;
  }
  return -1;
}

template <class R, class T>
std::int64_t place_in_array(const T* x, std::int64_t n) {
  std::vector<std::int64_t> found(static_cast<std::size_t>(omp_get_max_threads()), -1);
  parallel_blocks(n, sizeof(T), [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
    found[static_cast<std::size_t>(thread)] = place_in_range<R>(x, first, count);
  });
  std::int64_t best = -1;
  for (const std::int64_t i : found) {
    if (i >= 0 && (best < 0 || is_before<R>(widened(x[i]), widened(x[best])))) best = i;
  }
  return best;
}

/// Nearest to the extreme of each column so far, and its row.
template <class R, class V, class T>
ASSAY_VECTOR_CLONES void compare_rows(V* best, std::int32_t* rows, const T* x, std::int64_t begin,
                                      std::int64_t end, std::int64_t step, std::int64_t count) {
  for (std::int64_t row = begin; row < end; ++row) {
    const T* const here = x + row * step;
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<V>(widened(here[i]));
      const bool is_nearer = std::is_same_v<R, Maximum> ? value > best[i] : value < best[i];
      const int is_first = static_cast<int>(value != value) & static_cast<int>(best[i] == best[i]);
      const bool replaces = (static_cast<int>(is_nearer) | is_first) != 0;
      best[i] = replaces ? value : best[i];
      rows[i] = replaces ? static_cast<std::int32_t>(row) : rows[i];
    }
  }
}

/// Places in columns. Bytes are compared as words, which their rows are too.
template <class R, class T>
void places_in_columns(const AxisExtents& extents, const T* x, std::int64_t* y) {
  using V = std::conditional_t<sizeof(T) == 1, std::int32_t, Computed<T>>;
  const ColumnPlan plan(extents, sizeof(T), omp_get_max_threads());
  struct Place {
    V value;
    std::int64_t row;
  };
  std::vector<Place> places(static_cast<std::size_t>(plan.parts() * extents.lines()));
  constexpr std::int64_t max_rows = std::int64_t{1} << 30;  // that the words count
#pragma omp parallel if (plan.is_parallel())
  {
    std::vector<V> best;
    std::vector<std::int32_t> rows;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < plan.tasks(); ++i) {
      const Columns task = plan.task(i);
      const T* const from = x + task.element;
      Place* const to = &places[static_cast<std::size_t>(task.part * extents.lines() + task.line)];
      best.resize(static_cast<std::size_t>(task.count));
      rows.resize(best.size());
      for (std::int64_t first = 0; first < task.rows; first += max_rows) {
        const T* const begin = from + first * extents.inner;
        for (std::size_t j = 0; j < best.size(); ++j) best[j] = static_cast<V>(widened(begin[j]));
        std::ranges::fill(rows, 0);
        compare_rows<R>(best.data(), rows.data(), begin, 1, std::min(max_rows, task.rows - first),
                        extents.inner, task.count);
        for (std::size_t j = 0; j < best.size(); ++j) {
          if (first == 0 || is_before<R>(best[j], to[j].value)) {
            to[j] = {best[j], task.first_row + first + rows[j]};
          }
        }
      }
    }
  }
  for (std::int64_t line = 0; line < extents.lines(); ++line) {
    Place best = places[static_cast<std::size_t>(line)];
    for (std::int64_t part = 1; part < plan.parts(); ++part) {
      const Place& other = places[static_cast<std::size_t>(part * extents.lines() + line)];
      if (is_before<R>(other.value, best.value)) best = other;
    }
    y[line] = best.row;
  }
}

template <class R>
std::unique_ptr<Kernel> place(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<std::int64_t*>(binding.outputs[0]);
    return by_lines<T>(
        op, x,
        [=](std::int64_t line, std::int64_t n) { y[line] = place_in_array<R>(x + line * n, n); },
        [=](std::int64_t line, std::int64_t n) { y[line] = place_in_range<R>(x + line * n, 0, n); },
        [=](const AxisExtents& extents) { places_in_columns<R>(extents, x, y); });
  });
}

constexpr KernelRow rows[] = {
    {"sum", reduction<Sum, SignedNumbers>},
    {"prod", reduction<Product, SignedNumbers>},
    {"mean", reduction<Mean, Floats>},
    {"dot", dot},
    {"norm2", norm2},
    {"logsumexp", logsumexp},
    {"reduce_min", reduction<Minimum, Numbers>},
    {"reduce_max", reduction<Maximum, Numbers>},
    {"argmax", place<Maximum>},
    {"argmin", place<Minimum>},
    {"sum_axis", reduction<Sum, SignedNumbers>},
    {"prod_axis", reduction<Product, SignedNumbers>},
    {"mean_axis", reduction<Mean, Floats>},
    {"norm2_axis", norm2},
    {"logsumexp_axis", logsumexp},
    {"reduce_min_axis", reduction<Minimum, Numbers>},
    {"reduce_max_axis", reduction<Maximum, Numbers>},
    {"argmax_axis", place<Maximum>},
    {"argmin_axis", place<Minimum>},
};

}  // namespace

std::span<const KernelRow> reduction_kernels() { return rows; }

}  // namespace assay::cpu
