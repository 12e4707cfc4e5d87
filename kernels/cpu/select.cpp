#include <algorithm>
#include <parallel/algorithm>
#include <utility>
#include <vector>

#include "kernels/cpu/map.h"
#include "kernels/cpu/sort_numbers.h"

// The greatest elements of rows, and the distinct ones of an array.
namespace assay::cpu {
namespace {

// --- The greatest of each row --------------------------------------------------------------------

template <class W>
struct Selection {
  const W* x;
  W* values;
  std::int64_t* places;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t k;

  void leave(std::int64_t row, std::int64_t i, std::int64_t place) const {
    values[row * k + i] = x[row * cols + place];
    places[row * k + i] = place;
  }
};

/// Selects of a row on all threads.
template <class P, class W>
void select_of_long_row(const Selection<W>& all, std::int64_t row, typename P::Number* numbers) {
  parallel_blocks(all.cols, sizeof(*numbers),
                  [&](std::int64_t, std::int64_t first, std::int64_t count) {
                    for (std::int64_t i = first; i < first + count; ++i)
                      numbers[i] = P::descending(all.x[row * all.cols + i], i);
                  });
  __gnu_parallel::partial_sort(numbers, numbers + all.k, numbers + all.cols);
  for (std::int64_t i = 0; i < all.k; ++i) all.leave(row, i, P::result(numbers[i]));
}

template <class P, class W>
void select_of_row(const Selection<W>& all, std::int64_t row, typename P::Number* numbers) {
  for (std::int64_t i = 0; i < all.cols; ++i)
    numbers[i] = P::descending(all.x[row * all.cols + i], i);
  std::partial_sort(numbers, numbers + all.k, numbers + all.cols);
  for (std::int64_t i = 0; i < all.k; ++i) all.leave(row, i, P::result(numbers[i]));
}

template <class P, class W>
void select(const Selection<W>& all, std::vector<typename P::Number>& scratch) {
  const auto row_bytes = all.cols * std::int64_t{sizeof(typename P::Number)};
  if (all.rows < 2 * omp_get_max_threads() && row_bytes > parallel_bytes) {
    scratch.resize(static_cast<std::size_t>(all.cols));
    for (std::int64_t row = 0; row < all.rows; ++row)
      select_of_long_row<P>(all, row, scratch.data());
    return;
  }
  scratch.resize(static_cast<std::size_t>(omp_get_max_threads() * all.cols));
  parallel_blocks(all.rows, row_bytes,
                  [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                    for (std::int64_t row = first; row < first + count; ++row)
                      select_of_row<P>(all, row, scratch.data() + thread * all.cols);
                  });
}

std::unique_ptr<Kernel> topk(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    using W = Word<sizeof(T)>;
    const Selection<W> all{.x = static_cast<const W*>(binding.inputs[0]),
                           .values = static_cast<W*>(binding.outputs[0]),
                           .places = static_cast<std::int64_t*>(binding.outputs[1]),
                           .rows = op.params.integer("rows"),
                           .cols = op.params.integer("cols"),
                           .k = op.params.integer("k")};
    return with_places<T>(all.cols, [&]<class N>(std::type_identity<N>) {
      const auto scratch = std::make_shared<std::vector<N>>();
      return std::make_unique<FunctionKernel>("libstdc++ partial sort of rows",
                                              [=] { select<KeysAndPlaces<T, N>>(all, *scratch); });
    });
  });
}

// --- Distinct elements ---------------------------------------------------------------------------

/// Runs of equal keys among sorted ones. A NaN is a run of its own.
template <class T>
struct Runs {
  using W = Word<sizeof(T)>;
  const W* keys;
  std::int64_t n;

  bool begins_at(std::int64_t i) const {
    return i == 0 || keys[i] != keys[i - 1] || is_key_of_nan<T>(keys[i]);
  }
  std::int64_t count(std::int64_t first, std::int64_t elements) const {
    std::int64_t runs = 0;
    for (std::int64_t i = first; i < first + elements; ++i) runs += begins_at(i) ? 1 : 0;
    return runs;
  }
  /// End of the run that begins at i, which is not within [i + 1, from).
  std::int64_t end(std::int64_t i, std::int64_t from) const {
    if (is_key_of_nan<T>(keys[i])) return i + 1;
    return std::upper_bound(keys + from, keys + n, keys[i]) - keys;
  }
};

/// Leaves the runs that begin in [first, first + elements), from run `run` on.
template <class T>
void leave_runs(const Runs<T>& runs, std::int64_t first, std::int64_t elements, std::int64_t run,
                Word<sizeof(T)>* values, std::int64_t* counts) {
  const std::int64_t end = first + elements;
  for (std::int64_t i = first; i < end;) {
    std::int64_t next = i + 1;
    while (next < end && !runs.begins_at(next)) ++next;
    if (runs.begins_at(i)) {
      values[run] = bits_of_key<T>(runs.keys[i]);
      counts[run] = (next < end ? next : runs.end(i, next)) - i;
      ++run;
    }
    i = next;
  }
}

template <class T>
void count_runs(const Runs<T>& runs, Word<sizeof(T)>* values, std::int64_t* counts) {
  std::vector<std::int64_t> before(static_cast<std::size_t>(omp_get_max_threads()), 0);
  const auto before_thread = [&](std::int64_t thread) -> std::int64_t& {
    return before[static_cast<std::size_t>(thread)];
  };
  parallel_blocks(runs.n, sizeof(T),
                  [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                    before_thread(thread) = runs.count(first, count);
                  });
  std::int64_t all = 0;
  for (std::int64_t& runs_of_thread : before) all += std::exchange(runs_of_thread, all);
  parallel_blocks(runs.n, sizeof(T),
                  [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                    leave_runs(runs, first, count, before_thread(thread), values, counts);
                  });
  parallel_blocks(runs.n - all, sizeof(T) + sizeof(std::int64_t),
                  [&](std::int64_t, std::int64_t first, std::int64_t count) {
                    std::fill_n(values + all + first, count, Word<sizeof(T)>{0});
                    std::fill_n(counts + all + first, count, 0);
                  });
}

std::unique_ptr<Kernel> unique(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    using W = Word<sizeof(T)>;
    const auto* x = static_cast<const W*>(binding.inputs[0]);
    auto* values = static_cast<W*>(binding.outputs[0]);
    auto* counts = static_cast<std::int64_t*>(binding.outputs[1]);
    const TensorSpec spec = op.signature.inputs[0];
    const auto scratch = std::make_shared<std::vector<W>>();
    return std::make_unique<FunctionKernel>("libstdc++ parallel sort, OpenMP runs", [=] {
      const std::int64_t n = spec.elements();
      scratch->resize(static_cast<std::size_t>(n));
      W* const keys = scratch->data();
      map_rows<W>(
          spec, [](W bits) { return key_of_equals<T>(bits); }, keys, x);
      __gnu_parallel::sort(keys, keys + n);
      count_runs(Runs<T>{keys, n}, values, counts);
    });
  });
}

constexpr KernelRow rows[] = {
    {"topk", topk},
    {"unique", unique},
};

}  // namespace

std::span<const KernelRow> select_kernels() { return rows; }

}  // namespace assay::cpu
