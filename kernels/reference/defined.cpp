#include "kernels/reference/defined.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace assay::reference {
namespace {

Measure& measure() {
  static Measure current;
  return current;
}

/// Negates the deviations of values that f32 cannot tell from an earlier one: they are rounded
/// alike.
void mark_repeated(const std::vector<double>& value, std::vector<double>& deviation) {
  std::vector<std::size_t> order(value.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value[i]));
  };
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(key(i), i); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (key(order[i]) == key(order[i - 1])) deviation[order[i]] = -deviation[order[i]];
  }
}

/// Elements of a state: those of the output, or of its first rows where they repeat.
std::size_t solved_elements(std::span<const double> state) { return state.size() / 2; }

std::size_t place_of(std::span<const double> state, std::int64_t element) {
  return static_cast<std::size_t>(element) % solved_elements(state);
}

/// The values, then the deviations.
State solve_with(const Problem& problem, const Effort& effort) {
  if (!measure()) throw std::logic_error("no process answers for defined ops");
  std::vector<MeasuredOutput> all = measure()(problem, effort);
  const Signature& signature = problem.op.signature;
  if (all.size() != signature.outputs.size()) {
    throw std::runtime_error("the reference gave another number of outputs than the op has");
  }
  MeasuredOutput& found = all[signature.judged_output];
  const TensorSpec& output = signature.outputs[0];
  auto elements = static_cast<std::size_t>(output.elements());
  if (const std::int64_t solved = problem.panel.rows; solved > 0) {
    const std::int64_t rows = problem.op.params.integer(problem.op.op->independent_rows);
    elements = elements / static_cast<std::size_t>(rows) * static_cast<std::size_t>(solved);
  }
  if (found.value.size() != elements || found.deviation.size() != elements) {
    throw std::runtime_error("the reference gave another number of elements than the op has");
  }
  if (is_floating(output.dtype) && precision_bits(output.dtype) < precision_bits(DType::f32)) {
    mark_repeated(found.value, found.deviation);
  }
  State state = std::move(found.value);
  state.insert(state.end(), found.deviation.begin(), found.deviation.end());
  return state;
}

State solve(const Problem& problem) { return solve_with(problem, {}); }

/// Keeps what fewer draws could tell: more of them find more places that are not finite.
State solve_again(const Problem& problem, const Effort& effort, std::span<const double> before) {
  State again = solve_with(problem, effort);
  if (effort.draws == Effort{}.draws) return again;
  for (std::size_t i = again.size() / 2; i < again.size(); ++i) {
    if (std::isinf(again[i])) again[i] = before[i];
  }
  return again;
}

void values(const Problem& /*problem*/, std::span<const double> state, std::int64_t first,
            Values out) {
  const std::size_t solved = solved_elements(state);
  std::ranges::fill(out.rest, 0.0);
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    const std::size_t element = static_cast<std::size_t>(first) + i;
    const std::size_t at = element % solved;
    const double deviation = state[solved + at];
    out.value[i] = state[at];
    out.scale[i] = element < solved ? deviation : -std::abs(deviation);  // again: rounded alike
  }
}

void bits(const Problem& problem, std::span<const double> state, std::int64_t first,
          std::span<std::byte> out) {
  visit_computed(problem.op.signature.outputs[0].dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
        const double packed = state[place_of(state, first + static_cast<std::int64_t>(i))];
        const auto value = static_cast<T>(std::bit_cast<std::int64_t>(packed));
        std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
      }
    }
  });
}

bool is_unknown(std::span<const double> state, std::int64_t i) {
  return std::isinf(state[solved_elements(state) + place_of(state, i)]);
}

}  // namespace

void measure_with(Measure measure_now) { measure() = std::move(measure_now); }

Reference of_defined_op(const OpInstance& op) {
  Reference reference{.solve = solve, .is_unknown = is_unknown, .solve_again = solve_again};
  if (is_floating(op.signature.outputs[0].dtype)) {
    reference.values = values;
  } else {
    reference.bits = bits;
  }
  return reference;
}

}  // namespace assay::reference
