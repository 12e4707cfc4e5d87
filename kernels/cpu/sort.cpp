#include <algorithm>
#include <parallel/algorithm>
#include <vector>

#include "kernels/cpu/columns.h"
#include "kernels/cpu/map.h"
#include "kernels/cpu/sort_numbers.h"

namespace assay::cpu {
namespace {

std::unique_ptr<Kernel> sort(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    using W = Word<sizeof(T)>;
    const auto* x = static_cast<const W*>(binding.inputs[0]);
    auto* y = static_cast<W*>(binding.outputs[0]);
    const TensorSpec spec = op.signature.outputs[0];
    return std::make_unique<FunctionKernel>("libstdc++ parallel sort", [=] {
      map_rows<W>(
          spec, [](W bits) { return key_of<T>(bits); }, y, x);
      __gnu_parallel::sort(y, y + spec.elements());
      map_rows<W>(
          spec, [](W key) { return bits_of_key<T>(key); }, y, static_cast<const W*>(y));
    });
  });
}

/// Sorts a line on all threads.
template <class M, class W, class Y>
void sort_long_line(const W* x, Y* y, std::int64_t n, std::int64_t step,
                    typename M::Number* numbers) {
  using Number = typename M::Number;
  parallel_blocks(n, sizeof(Number), [=](std::int64_t, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) numbers[i] = M::of(x[i * step], i);
  });
  __gnu_parallel::sort(numbers, numbers + n);
  parallel_blocks(n, sizeof(Number), [=](std::int64_t, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) y[i * step] = M::result(numbers[i]);
  });
}

/// Sorts `count` lines side by side: those of `inner` share cache lines.
template <class M, class W, class Y>
void sort_some_lines(const W* x, Y* y, std::int64_t n, std::int64_t inner, std::int64_t count,
                     typename M::Number* numbers) {
  for (std::int64_t place = 0; place < n; ++place) {
    const W* const from = x + place * inner;
    for (std::int64_t i = 0; i < count; ++i) numbers[i * n + place] = M::of(from[i], place);
  }
  for (std::int64_t i = 0; i < count; ++i) std::sort(numbers + i * n, numbers + (i + 1) * n);
  for (std::int64_t place = 0; place < n; ++place) {
    Y* const to = y + place * inner;
    for (std::int64_t i = 0; i < count; ++i) to[i] = M::result(numbers[i * n + place]);
  }
}

/// Lines that a thread sorts at once.
constexpr std::int64_t max_lines_at_once = 16;

template <class M, class W, class Y>
void sort_lines(const AxisExtents& extents, const W* x, Y* y,
                std::vector<typename M::Number>& scratch) {
  using Number = typename M::Number;
  const std::int64_t n = extents.n;
  const std::int64_t inner = extents.inner;
  const auto line_bytes = n * std::int64_t{sizeof(Number)};
  if (n == 0) return;
  if (extents.lines() < 2 * omp_get_max_threads() && line_bytes > parallel_bytes) {
    scratch.resize(static_cast<std::size_t>(n));
    for (std::int64_t line = 0; line < extents.lines(); ++line) {
      const std::int64_t first = line / inner * n * inner + line % inner;
      sort_long_line<M>(x + first, y + first, n, inner, scratch.data());
    }
    return;
  }
  const std::int64_t at_once = std::min(max_lines_at_once, inner);
  const std::int64_t groups = (inner + at_once - 1) / at_once;
  scratch.resize(static_cast<std::size_t>(omp_get_max_threads() * at_once * n));
  parallel_blocks(extents.outer * groups, at_once * line_bytes,
                  [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                    for (std::int64_t group = first; group < first + count; ++group) {
                      const std::int64_t column = group % groups * at_once;
                      const std::int64_t element = group / groups * n * inner + column;
                      sort_some_lines<M>(x + element, y + element, n, inner,
                                         std::min(at_once, inner - column),
                                         scratch.data() + thread * at_once * n);
                    }
                  });
}

template <class M, class W, class Y>
std::unique_ptr<Kernel> kernel_of_lines(const OpInstance& op, const W* x, Y* y) {
  const AxisExtents extents(op.signature.inputs[0]);
  const auto scratch = std::make_shared<std::vector<typename M::Number>>();
  return std::make_unique<FunctionKernel>("libstdc++ sort of lines",
                                          [=] { sort_lines<M>(extents, x, y, *scratch); });
}

std::unique_ptr<Kernel> sort_axis(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    using W = Word<sizeof(T)>;
    return kernel_of_lines<Keys<T>>(op, static_cast<const W*>(binding.inputs[0]),
                                    static_cast<W*>(binding.outputs[0]));
  });
}

std::unique_ptr<Kernel> argsort(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const Word<sizeof(T)>*>(binding.inputs[0]);
    auto* y = static_cast<std::int64_t*>(binding.outputs[0]);
    return with_places<T>(op.signature.inputs[0].line_elements(),
                          [&]<class N>(std::type_identity<N>) {
                            return kernel_of_lines<KeysAndPlaces<T, N>>(op, x, y);
                          });
  });
}

constexpr KernelRow rows[] = {
    {"sort", sort},
    {"argsort", argsort},
    {"sort_axis", sort_axis},
    {"argsort_axis", argsort},
};

}  // namespace

std::span<const KernelRow> sort_kernels() { return rows; }

}  // namespace assay::cpu
