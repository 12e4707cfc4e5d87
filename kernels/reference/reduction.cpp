#include <cstring>

#include "kernels/reference/exact_sum.h"
#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

/// State: {value, rest, sum of magnitudes}.
template <class T>
State solve_sum(const Problem& p) {
  ExactSum total;
  double magnitude = 0;
  for (const T x : p.input<T>(0)) {
    total.add(x);
    magnitude += std::abs(static_cast<double>(x));
  }
  return {total.value(), total.rest(), magnitude};
}

void sum_values(const Problem&, std::span<const double> state, std::int64_t, Values out) {
  if (out.value.empty()) return;
  out.value[0] = state[0];
  out.rest[0] = state[1];
  out.scale[0] = state[2];
}

void sum_integer_bits(const Problem& p, std::span<const double>, std::int64_t,
                      std::span<std::byte> out) {
  std::uint64_t total = 0;  // wraps
  for (const std::int64_t x : p.input<std::int64_t>(0)) total += static_cast<std::uint64_t>(x);
  std::memcpy(out.data(), &total, out.size());
}

Reference sum(const OpInstance& op) {
  switch (op.dtype) {
    case DType::f64:
      return {.solve = solve_sum<double>, .values = sum_values};
    case DType::f32:
      return {.solve = solve_sum<float>, .values = sum_values};
    default:
      return {.bits = sum_integer_bits};
  }
}

constexpr ReferenceRow rows[] = {
    {"sum", sum},
};

}  // namespace

std::span<const ReferenceRow> reduction_references() { return rows; }

}  // namespace assay::reference
