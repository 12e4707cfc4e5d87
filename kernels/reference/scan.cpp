#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/core/worth_a_fork.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/exact_sum.h"
#include "kernels/reference/families.h"
#include "kernels/reference/packed_state.h"

namespace assay::reference {
namespace {

/// A running sum of real numbers: value, rest and magnitude.
template <class T>
struct RealSum {
  static constexpr std::size_t numbers = 3;

  ExactSum sum;
  double magnitude = 0;

  RealSum() = default;
  explicit RealSum(const double* state) : sum(state[0], state[1]), magnitude(state[2]) {}
  void put(double* state) const {
    state[0] = sum.value();
    state[1] = sum.rest();
    state[2] = magnitude;
  }
  void add(T x) {
    sum.add(wide(x));
    magnitude += std::abs(wide(x));
  }
};

/// A running sum of integers, which wrap.
template <class T>
struct WrappingSum {
  static constexpr std::size_t numbers = 1;

  std::make_unsigned_t<T> sum = 0;

  WrappingSum() = default;
  explicit WrappingSum(const double* state) : sum(from_state<std::make_unsigned_t<T>>(state[0])) {}
  void put(double* state) const { state[0] = as_state(sum); }
  void add(T x) { sum += static_cast<std::make_unsigned_t<T>>(x); }
};

/// Blocks of a line. The state of a scan holds the sum before each of them, line by line. Of lines
/// that lie side by side they are short: whole rows of them are summed again from there.
struct Blocks {
  explicit Blocks(const TensorSpec& x)
      : n(x.line_elements()),
        step(x.line_step()),
        places(step == 1 ? 1024 : 16),
        of_line((n + places - 1) / places) {}
  std::int64_t of(std::int64_t line, std::int64_t place) const {
    return line * of_line + place / places;
  }

  std::int64_t n;
  std::int64_t step;
  std::int64_t places;
  std::int64_t of_line;
};

template <class Sum, class T>
State solve_scan(const Problem& p) {
  const TensorSpec& spec = p.op.signature.inputs[0];
  const auto x = p.input<T>(0);
  if (x.empty()) return {};
  const Blocks blocks(spec);
  const std::int64_t lines = spec.elements() / blocks.n;
  State state(static_cast<std::size_t>(lines * blocks.of_line) * Sum::numbers);
#pragma omp parallel for schedule(static) if (lines > 1 && spec.elements() > worth_a_fork())
  for (std::int64_t line = 0; line < lines; ++line) {
    Sum sum;
    auto element = static_cast<std::size_t>(spec.element_of_line(line, 0));
    for (std::int64_t first = 0; first < blocks.n; first += blocks.places) {
      sum.put(&state[static_cast<std::size_t>(blocks.of(line, first)) * Sum::numbers]);
      const std::int64_t end = std::min(first + blocks.places, blocks.n);
      for (std::int64_t place = first; place < end; ++place) {
        sum.add(x[element]);
        element += static_cast<std::size_t>(blocks.step);
      }
    }
  }
  return state;
}

/// Calls f(element, sum, place) with the running sums of columns [first, end) of a matrix at its
/// places [from, to).
template <class Sum, class T, class F>
void for_columns(const Blocks& blocks, std::span<const double> state, std::span<const T> x,
                 std::int64_t matrix, std::int64_t first, std::int64_t end, std::int64_t from,
                 std::int64_t to, const F& f) {
  std::vector<Sum> sums(static_cast<std::size_t>(end - first));
  for (std::int64_t place = from / blocks.places * blocks.places; place < to; ++place) {
    for (std::int64_t column = first; column < end; ++column) {
      Sum& sum = sums[static_cast<std::size_t>(column - first)];
      if (place % blocks.places == 0) {
        const std::int64_t block = blocks.of(matrix * blocks.step + column, place);
        sum = Sum(&state[static_cast<std::size_t>(block) * Sum::numbers]);
      }
      const std::int64_t element = (matrix * blocks.n + place) * blocks.step + column;
      sum.add(x[static_cast<std::size_t>(element)]);
      if (place >= from) f(element, sum, place);
    }
  }
}

/// Calls f(i, sum, place) with the running sum of each element [first, first + count), i from 0:
/// of a row's rest, of whole rows of each matrix, and of the beginning of a row.
template <class Sum, class T, class F>
void for_sums(const Problem& p, std::span<const double> state, std::int64_t first,
              std::int64_t count, const F& f) {
  const auto x = p.input<T>(0);
  const Blocks blocks(p.op.signature.inputs[0]);
  const auto call = [&](std::int64_t element, const Sum& sum, std::int64_t place) {
    f(static_cast<std::size_t>(element - first), sum, place);
  };
  const std::int64_t end = first + count;
  for (std::int64_t element = first; element < end;) {
    const std::int64_t column = element % blocks.step;
    const std::int64_t place = element / blocks.step % blocks.n;
    const std::int64_t matrix = element / blocks.step / blocks.n;
    std::int64_t end_column = std::min(blocks.step, column + end - element);
    std::int64_t end_place = place + 1;
    if (column == 0 && end - element >= blocks.step) {
      end_column = blocks.step;
      end_place = std::min(blocks.n, place + (end - element) / blocks.step);
    }
    for_columns<Sum, T>(blocks, state, x, matrix, column, end_column, place, end_place, call);
    element += (end_place - place) * (end_column - column);
  }
}

/// Place i of a line adds at most its first i + 1 terms. The bound counts n of them, so the scale
/// takes the share (i + 1) / n.
template <class T>
void scan_values(const Problem& p, std::span<const double> state, std::int64_t first, Values out) {
  const auto n = static_cast<double>(p.op.signature.terms);
  for_sums<RealSum<T>, T>(p, state, first, std::ssize(out.value),
                          [&](std::size_t i, const RealSum<T>& sum, std::int64_t place) {
                            out.value[i] = sum.sum.value();
                            out.rest[i] = sum.sum.rest();
                            out.scale[i] = sum.magnitude * (static_cast<double>(place + 1) / n);
                          });
}

/// Share of a line's elements in the sum of the first ones up to its place.
double scanned_share(const OpInstance& op, std::int64_t i) {
  const std::int64_t place = op.signature.inputs[0].place_of(i);
  return static_cast<double>(place + 1) / static_cast<double>(op.signature.terms);
}

template <class T>
void scan_bits(const Problem& p, std::span<const double> state, std::int64_t first,
               std::span<std::byte> out) {
  for_sums<WrappingSum<T>, T>(
      p, state, first, std::ssize(out) / std::int64_t{sizeof(T)},
      [&](std::size_t i, const WrappingSum<T>& sum, std::int64_t) { store(out, i, sum.sum); });
}

Reference scan(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) -> Reference {
    if constexpr (std::is_integral_v<T>) {
      return {.solve = solve_scan<WrappingSum<T>, T>, .bits = scan_bits<T>};
    } else {
      return {.solve = solve_scan<RealSum<T>, T>, .values = scan_values<T>, .share = scanned_share};
    }
  });
}

constexpr ReferenceRow rows[] = {
    {"scan", scan},
    {"scan_axis", scan},
};

}  // namespace

std::span<const ReferenceRow> scan_references() { return rows; }

}  // namespace assay::reference
