#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels/core/parallel.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"
#include "kernels/reference/lines.h"
#include "kernels/reference/packed_state.h"

namespace assay::reference {
namespace {

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return wide(x) != wide(x);
  }
}

template <class T>
bool less(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    return wide(a) < wide(b);
  }
}

/// Ascending order. NaN comes last, as NumPy and PyTorch have it.
template <class T>
bool is_before(T a, T b) {
  return less(a, b) || (is_nan(b) && !is_nan(a));
}

/// Sorts halves in parallel, and merges them.
template <class Element, class Before>
void sort_halves(std::vector<Element>& elements, const Before& before) {
  const auto middle = elements.begin() + std::ssize(elements) / 2;
#pragma omp parallel sections if (std::ssize(elements) > worth_a_fork)
  {
#pragma omp section
    std::stable_sort(elements.begin(), middle, before);
#pragma omp section
    std::stable_sort(middle, elements.end(), before);
  }
  std::inplace_merge(elements.begin(), middle, elements.end(), before);
}

template <class T>
std::vector<T> sorted(std::span<const T> x) {
  std::vector<T> y(x.begin(), x.end());
  sort_halves(y, is_before<T>);
  return y;
}

template <class T>
State solve_sort(const Problem& p) {
  return pack(std::span<const T>(sorted(p.input<T>(0))));
}

/// Gives elements of the output that the state holds as they are.
void packed_bits(const Problem& p, std::span<const double> state, std::int64_t first,
                 std::span<std::byte> out) {
  if (out.empty()) return;
  const auto* bytes = reinterpret_cast<const std::byte*>(state.data());
  std::memcpy(out.data(), bytes + static_cast<std::size_t>(first) * size_bytes(output_dtype(p.op)),
              out.size());
}

Reference sort(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_sort<T>, .bits = packed_bits};
  });
}

// --- Places --------------------------------------------------------------------------------------

std::int64_t place_in(std::span<const double> state, std::int64_t i) {
  return from_state<std::int64_t>(state[static_cast<std::size_t>(i)]);
}

/// The places of the elements of each line, in their order, line after line.
template <class T>
State solve_places(const Problem& p) {
  const Lines lines(p);
  State state(lines.count() * lines.length());
  lines.for_each(p.input<T>(0), [&](std::size_t line, std::span<const T> x) {
    std::vector<std::int64_t> places(x.size());
    std::iota(places.begin(), places.end(), std::int64_t{0});
    const auto before = [&](std::int64_t a, std::int64_t b) {
      return is_before(x[static_cast<std::size_t>(a)], x[static_cast<std::size_t>(b)]);
    };
    if (lines.count() == 1) {
      sort_halves(places, before);
    } else {
      std::ranges::stable_sort(places, before);
    }
    std::ranges::transform(places, &state[line * x.size()],
                           [](std::int64_t place) { return as_state(place); });
  });
  return state;
}

/// Calls f(i, line, place) with the place that each element [first, first + count) of the output
/// has, or comes from, in its line.
template <class F>
void for_places(const Problem& p, std::span<const double> state, std::int64_t first,
                std::int64_t count, const F& f) {
  const TensorSpec& x = p.op.signature.inputs[0];
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t line = x.line_of(first + i);
    const std::int64_t at = line * x.line_elements() + x.place_of(first + i);
    f(static_cast<std::size_t>(i), line, place_in(state, at));
  }
}

void place_bits(const Problem& p, std::span<const double> state, std::int64_t first,
                std::span<std::byte> out) {
  for_places(p, state, first, std::ssize(out) / std::int64_t{sizeof(std::int64_t)},
             [&](std::size_t i, std::int64_t, std::int64_t place) { store(out, i, place); });
}

template <class T>
void element_bits(const Problem& p, std::span<const double> state, std::int64_t first,
                  std::span<std::byte> out) {
  const TensorSpec& x = p.op.signature.inputs[0];
  for_places(p, state, first, std::ssize(out) / std::int64_t{sizeof(T)},
             [&](std::size_t i, std::int64_t line, std::int64_t place) {
               store(out, i,
                     p.input<T>(0)[static_cast<std::size_t>(x.element_of_line(line, place))]);
             });
}

Reference argsort(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_places<T>, .bits = place_bits};
  });
}

Reference sort_axis(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_places<T>, .bits = element_bits<T>};
  });
}

// --- The greatest of each row --------------------------------------------------------------------

/// The places of the k greatest of each row. NaN is the greatest, as it is of a maximum.
template <class T>
State solve_greatest(const Problem& p) {
  const auto k = static_cast<std::size_t>(p.op.params.integer("k"));
  const Lines lines(p);
  State state(lines.count() * k);
  lines.for_each(p.input<T>(0), [&](std::size_t line, std::span<const T> x) {
    std::vector<std::size_t> places(x.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    const auto end = places.begin() + static_cast<std::ptrdiff_t>(k);
    std::partial_sort(places.begin(), end, places.end(), [&](std::size_t a, std::size_t b) {
      if (is_before(x[b], x[a])) return true;
      return !is_before(x[a], x[b]) && a < b;
    });
    std::transform(places.begin(), end, &state[line * k],
                   [](std::size_t place) { return as_state(static_cast<std::int64_t>(place)); });
  });
  return state;
}

template <class T>
void greatest_bits(const Problem& p, std::span<const double> state, std::int64_t first,
                   std::span<std::byte> out) {
  const std::int64_t k = p.op.params.integer("k");
  const std::int64_t cols = p.op.params.integer("cols");
  const bool are_places = p.op.signature.judged_output == 1;
  const std::size_t width = are_places ? sizeof(std::int64_t) : sizeof(T);
  for (std::size_t i = 0; i < out.size() / width; ++i) {
    const std::int64_t at = first + static_cast<std::int64_t>(i);
    const std::int64_t place = place_in(state, at);
    if (are_places) {
      store(out, i, place);
    } else {
      store(out, i, p.input<T>(0)[static_cast<std::size_t>(at / k * cols + place)]);
    }
  }
}

Reference topk(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_greatest<T>, .bits = greatest_bits<T>};
  });
}

// --- Distinct elements ---------------------------------------------------------------------------

/// The distinct values, or how often each occurs, and zeros behind them. A NaN equals nothing.
template <class T>
State solve_unique(const Problem& p) {
  const std::vector<T> y = sorted(p.input<T>(0));
  std::vector<T> values(y.size());
  std::vector<std::int64_t> counts(y.size());
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool is_repeated = i > 0 && !less(y[i - 1], y[i]) && !is_nan(y[i]);
    if (!is_repeated) values[distinct++] = y[i];
    ++counts[distinct - 1];
  }
  return p.op.signature.judged_output == 0 ? pack(std::span<const T>(values))
                                           : pack(std::span<const std::int64_t>(counts));
}

Reference unique(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.solve = solve_unique<T>, .bits = packed_bits};
  });
}

constexpr ReferenceRow rows[] = {
    {"sort", sort}, {"argsort", argsort}, {"sort_axis", sort_axis}, {"argsort_axis", argsort},
    {"topk", topk}, {"unique", unique},
};

}  // namespace

std::span<const ReferenceRow> sort_references() { return rows; }

}  // namespace assay::reference
