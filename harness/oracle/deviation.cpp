#include "harness/oracle/deviation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "harness/oracle/compare.h"
#include "harness/oracle/number.h"

namespace assay::oracle {
namespace {

/// Numbers of the first version in a text: "oneDNN 2.6.3 jit" gives {2, 6, 3}.
std::vector<int> version_in(std::string_view text) {
  std::vector<int> numbers;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  // A digit within a word ("avx2") belongs to a name.
  std::size_t at = 0;
  while (at < text.size() &&
         !(is_digit(text[at]) && (at == 0 || text[at - 1] == ' ' || text[at - 1] == 'v'))) {
    ++at;
  }
  while (at < text.size() && is_digit(text[at])) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = static_cast<std::size_t>(end - text.data());
    if (at >= text.size() || text[at] != '.') break;
    ++at;
  }
  return numbers;
}

/// The expected elements from `first` on.
template <class T>
void expect(const reference::Reference& expected, const reference::Problem& problem,
            std::span<const double> state, std::int64_t first, std::span<T> out) {
  if (expected.bits != nullptr) {
    expected.bits(problem, state, first, std::as_writable_bytes(out));
    return;
  }
  if constexpr (is_float<T>) {
    std::array<double, run_elements> value, rest, scale;
    expected.values(problem, state, first,
                    {std::span(value).first(out.size()), std::span(rest).first(out.size()),
                     std::span(scale).first(out.size())});
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = correctly_rounded<T>(value[i], rest[i]);
  }
}

/// Element i of a tensor as a double.
double element(const HostTensor& tensor, std::size_t i) {
  return visit_dtype(tensor.spec().dtype,
                     [&]<class T>(std::type_identity<T>) { return widen(tensor.as<T>()[i]); });
}

bool same_number(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

/// Minimum (maximum) of the ranks' elements i that are numbers; empty unless one rank has a NaN.
std::optional<double> extreme_of_numbers(const reference::Problem& problem, std::size_t i) {
  const Signature& signature = problem.op.signature;
  // A rank's output may be a chunk of the reduction.
  if (signature.inputs[0].elements() > signature.outputs[0].elements()) {
    i += static_cast<std::size_t>(problem.of_rank * signature.outputs[0].elements());
  }
  const bool is_least = problem.op.params.word("reduce") == "min";
  std::optional<double> extreme;
  bool has_nan = false;
  for (const std::vector<HostTensor>& rank : problem.ranks) {
    const double x = element(rank.at(0), i);
    if (std::isnan(x)) {
      has_nan = true;
    } else if (!extreme || (is_least ? x < *extreme : x > *extreme)) {
      extreme = x;
    }
  }
  return has_nan ? extreme : std::nullopt;
}

/// Element i of the exact result of a cast or an fma, rounded to f32.
float rounded_to_f32(const OpInstance& op, const std::vector<HostTensor>& inputs, std::size_t i) {
  if (op.op->name == "fma") {
    const auto operand = [&](std::size_t input) {
      return static_cast<float>(element(inputs.at(input), i));
    };
    return std::fma(operand(0), operand(1), operand(2));
  }
  return visit_dtype(op.dtype(), [&]<class T>(std::type_identity<T>) {
    return static_cast<float>(inputs.at(0).as<T>()[i]);  // integers of 64 bits in one rounding too
  });
}

/// Element i of the output's dtype, rounded from f32; empty where that is what is expected.
std::optional<double> rounded_through_f32(const OpInstance& op,
                                          const std::vector<HostTensor>& inputs, std::size_t i,
                                          double expected) {
  return visit_dtype(op.signature.outputs[0].dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_narrow_float<T>) {
      const double twice = widen(T(rounded_to_f32(op, inputs, i)));
      if (!same_number(twice, expected)) return std::optional(twice);
    }
    return std::optional<double>();
  });
}

/// Infinity for element i of a cast that saturates; empty where the cast gives the nearest number.
std::optional<double> not_saturated(const OpInstance& op, const std::vector<HostTensor>& inputs,
                                    std::size_t i) {
  constexpr float e5m2_limit = 61440;  // half a unit above the largest number, as ties go beyond it
  if (op.signature.outputs[0].dtype != DType::e5m2) return std::nullopt;
  const float x = rounded_to_f32(op, inputs, i);
  if (!(std::abs(x) >= e5m2_limit)) return std::nullopt;
  return std::copysign(std::numeric_limits<double>::infinity(), static_cast<double>(x));
}

bool reciprocal_overflows(DType dtype, double expected) {
  const double limit = dtype == DType::f64 ? 0x1p-1024 : 0x1p-128;
  return expected != 0 && std::abs(expected) < limit;
}

/// True if a norm differs from what is expected by what squares lose that are rounded to multiples
/// of the least number of the elements' dtype, and by the roundings of any norm.
bool has_subnormal_squares(const OpInstance& op, double expected, double actual) {
  const DType kept_in = accumulator(op);
  const auto terms = static_cast<long double>(op.signature.terms);
  const long double square = static_cast<long double>(expected) * expected;
  const int least = smallest_exponent(op.dtype()) - precision_bits(op.dtype()) + 1;
  const long double lost = terms * std::ldexp(0.5L, least);
  const long double rounded =
      (terms + 4) * unit_roundoff(kept_in) + 4 * unit_roundoff(output_dtype(op));
  const long double off = std::abs(static_cast<long double>(actual) * actual - square);
  return lost > square * unit_roundoff(kept_in) / 8 && off <= lost + rounded * square;
}

/// Result of a norm without a scale: infinity, 0, or what is left of subnormal squares; empty where
/// it may be right.
std::optional<double> of_unscaled_squares(const OpInstance& op, double expected, double actual) {
  if (expected == 0 || !std::isfinite(expected)) return std::nullopt;
  const bool is_f64 = accumulator(op) == DType::f64;
  // At the limit the squares' own roundings decide.
  constexpr double roundings = 0x1p-20;
  const double limit = is_f64 ? 0x1p512 : 0x1p64;
  const bool is_near = std::isinf(actual) && expected > limit * (1 - roundings);
  if (expected > limit || is_near) return std::numeric_limits<double>::infinity();
  if (expected < (is_f64 ? 0x1p-560 : 0x1p-80)) return 0;
  if (actual != expected && has_subnormal_squares(op, expected, actual)) return actual;
  return std::nullopt;
}

/// Value that the deviation gives for element i; empty where it does not show. `actual` decides
/// only where the deviation allows many values.
std::optional<double> given(const Deviation& deviation, const reference::Problem& problem,
                            std::size_t i, double expected, double actual) {
  const std::vector<HostTensor>& inputs = problem.ranks[static_cast<std::size_t>(problem.of_rank)];
  const HostTensor* argument = inputs.empty() ? nullptr : inputs.data();
  const bool elementwise = argument != nullptr && argument->spec().elements() ==
                                                      problem.op.signature.outputs[0].elements();
  const auto where = [&](bool shows) {
    return shows ? std::optional(deviation.value) : std::nullopt;
  };
  switch (deviation.where) {
    case Deviation::Where::expected_nan:
      return where(std::isnan(expected));
    case Deviation::Where::argument_is:
      return where(elementwise && same_number(element(*argument, i), deviation.argument));
    case Deviation::Where::argument_above: {
      if (!elementwise) return std::nullopt;
      const double x = element(*argument, i);
      return where(std::isfinite(x) && x > deviation.argument && std::isfinite(expected));
    }
    case Deviation::Where::argument_subnormal: {
      if (!elementwise) return std::nullopt;
      const double x = element(*argument, i);
      return where(x != 0 && std::abs(x) < smallest_normal(argument->spec().dtype));
    }
    case Deviation::Where::nan_beside_numbers:
      return std::isnan(expected) ? extreme_of_numbers(problem, i) : std::nullopt;
    case Deviation::Where::rounded_through_f32:
      return rounded_through_f32(problem.op, inputs, i, expected);
    case Deviation::Where::not_saturated:
      return not_saturated(problem.op, inputs, i);
    case Deviation::Where::reciprocal_overflows:
      return where(reciprocal_overflows(problem.op.dtype(), expected));
    case Deviation::Where::squares_out_of_range:
      return of_unscaled_squares(problem.op, expected, actual);
    case Deviation::Where::launches_differ:
      return std::nullopt;  // each launch is right
  }
  __builtin_unreachable();
}

bool is_given(const Deviation& deviation, double value, double actual) {
  if (deviation.where == Deviation::Where::nan_beside_numbers) return actual == value;
  return same_number(actual, value);
}

bool applies(const Deviation& d, const OpInstance& op, std::string_view implementation) {
  const ParamValue* reduce = op.params.find("reduce");
  return std::ranges::find(d.ops, op.op->name) != d.ops.end() &&
         implementation.starts_with(d.library) &&
         implementation.find(d.by) != std::string_view::npos &&
         std::ranges::find(d.formats, op.format) != d.formats.end() &&
         is_version_of(implementation, d.from, d.before) &&
         (d.reduce.empty() || (reduce != nullptr && to_text(*reduce) == d.reduce));
}

}  // namespace

bool is_version_of(std::string_view version, std::string_view from, std::string_view before) {
  const std::vector<int> v = version_in(version);
  if (v.empty()) return from.empty() && before.empty();
  return (from.empty() || v >= version_in(from)) && (before.empty() || v < version_in(before));
}

std::vector<Seen> declared_for(std::span<const Deviation> table, const OpInstance& op,
                               std::string_view implementation) {
  std::vector<Seen> seen;
  for (const Deviation& d : table) {
    if (d.where != Deviation::Where::launches_differ && applies(d, op, implementation)) {
      seen.push_back({&d});
    }
  }
  return seen;
}

const Deviation* launches_may_differ(std::span<const Deviation> table, const OpInstance& op,
                                     std::string_view implementation) {
  const auto found = std::ranges::find_if(table, [&](const Deviation& d) {
    return d.where == Deviation::Where::launches_differ && applies(d, op, implementation);
  });
  return found == table.end() ? nullptr : &*found;
}

void accept_deviations(const reference::Reference& expected, const reference::Problem& problem,
                       std::span<const double> state, HostTensor& output, std::vector<Seen>& seen) {
  if (seen.empty()) return;
  visit_dtype(output.spec().dtype, [&]<class T>(std::type_identity<T>) {
    const std::span<T> got = output.as<T>();
    std::array<T, run_elements> run;
    for (std::size_t first = 0; first < got.size(); first += run.size()) {
      const auto want = std::span(run).first(std::min(run.size(), got.size() - first));
      expect<T>(expected, problem, state, static_cast<std::int64_t>(first), want);
      for (std::size_t i = 0; i < want.size(); ++i) {
        T& actual = got[first + i];
        for (Seen& s : seen) {
          const std::optional<double> value =
              given(*s.deviation, problem, first + i, widen(want[i]), widen(actual));
          if (!value) continue;
          ++s.places;
          if (!is_given(*s.deviation, *value, widen(actual))) continue;
          ++s.deviating;
          actual = want[i];
        }
      }
    }
  });
}

}  // namespace assay::oracle
