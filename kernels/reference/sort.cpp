#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

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

template <class T>
using Key = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// A number whose order is that of the elements: ascending, -0 equal to 0, all NaN equal and last,
/// as NumPy and PyTorch have it.
template <class T>
Key<T> key_of(T x) {
  constexpr auto sign = static_cast<Key<T>>(Key<T>{1} << (8 * sizeof(T) - 1));
  const auto word = std::bit_cast<Key<T>>(x);
  if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? static_cast<Key<T>>(word ^ sign) : word;
  } else {
    if (is_nan(x)) return std::numeric_limits<Key<T>>::max();
    if (word == sign) return sign;
    return (word & sign) != 0 ? static_cast<Key<T>>(~word) : static_cast<Key<T>>(word | sign);
  }
}

/// Something that is sorted by an element: the element itself, or its place.
template <class T, class Of>
struct Keyed {
  Key<T> key;
  Of of;
};

/// Sorts byte after byte from the lowest, so that equal keys stay in their order.
template <class T, class Of>
void sort_by_key(std::vector<Keyed<T, Of>>& all) {
  constexpr std::size_t worth_counting = 256;  // as many counts are made for each byte
  if (all.size() < worth_counting) {
    std::ranges::stable_sort(all, {}, &Keyed<T, Of>::key);
    return;
  }
  std::vector<Keyed<T, Of>> sorted(all.size());
  for (unsigned shift = 0; shift < 8 * sizeof(T); shift += 8) {
    const auto byte = [&](const Keyed<T, Of>& one) {
      return static_cast<std::size_t>(one.key >> shift & 0xffU);
    };
    std::array<std::size_t, 256> counts{};
    for (const auto& one : all) ++counts[byte(one)];
    std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), std::size_t{0});
    for (const auto& one : all) sorted[counts[byte(one)]++] = one;
    all.swap(sorted);
  }
}

template <class T>
using Placed = Keyed<T, std::int64_t>;

/// The places of the elements, in the order of these.
template <class T>
std::vector<Placed<T>> places_of(std::span<const T> x) {
  std::vector<Placed<T>> places(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    places[i] = {key_of(x[i]), static_cast<std::int64_t>(i)};
  }
  return places;
}

template <class T>
std::vector<T> sorted(std::span<const T> x) {
  std::vector<Keyed<T, T>> elements(x.size());
  std::ranges::transform(x, elements.begin(), [](T one) { return Keyed<T, T>{key_of(one), one}; });
  sort_by_key(elements);
  std::vector<T> y(x.size());
  std::ranges::transform(elements, y.begin(), &Keyed<T, T>::of);
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
    std::vector<Placed<T>> places = places_of(x);
    sort_by_key(places);
    std::ranges::transform(places, &state[line * x.size()],
                           [](const Placed<T>& one) { return as_state(one.of); });
  });
  return state;
}

/// Calls f(i, line, place) with the place that each element [first, first + count) of the output
/// has, or comes from, in its line.
template <class F>
void for_places(const Problem& p, std::span<const double> state, std::int64_t first,
                std::int64_t count, const F& f) {
  const TensorSpec& x = p.op.signature.inputs[0];
  const bool are_rows = x.line_step() == 1;  // whose places lie as the elements do
  const std::int64_t length = x.line_elements();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t element = first + i;
    const std::int64_t line = are_rows ? element / length : x.line_of(element);
    const std::int64_t at = are_rows ? element : line * length + x.place_of(element);
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
    std::vector<Placed<T>> places = places_of(x);
    const auto end = places.begin() + static_cast<std::ptrdiff_t>(k);
    std::partial_sort(places.begin(), end, places.end(),
                      [](const Placed<T>& a, const Placed<T>& b) {
                        return a.key != b.key ? a.key > b.key : a.of < b.of;
                      });
    std::transform(places.begin(), end, &state[line * k],
                   [](const Placed<T>& one) { return as_state(one.of); });
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
