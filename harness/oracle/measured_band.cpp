#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "harness/oracle/precision.h"
#include "harness/oracle/tolerance.h"
#include "kernels/ops/defined.h"

namespace assay::oracle {
namespace {

/// Errors of right kernels were 0.02 to 0.98 of so many deviations, over 29 ops.
constexpr double deviations = 8;

/// Eight draws tell the deviation to a quarter, not to a factor of so much.
constexpr double near_miss = 8;
constexpr int many_draws = 64;

/// Chance of a right launch to have more misrounded outputs.
constexpr double false_alarm_of_misrounded = 1e-6;

/// True where few draws may agree on a number that is not exact: a clamp hides one side of them.
bool has_agreed_by_chance(const Verdict& verdict, const OpInstance& op) {
  const DefinedOp* defined = find_defined(op.op->name);
  const bool is_ring = defined == nullptr || defined->is_ring;
  return !is_ring && verdict.worst.mismatch && verdict.worst.allowed == 0;
}

std::string describe_band(const OpInstance& op, Arithmetic arithmetic) {
  const DefinedOp* defined = find_defined(op.op->name);
  if (defined == nullptr || defined->roundings.empty()) {
    return fmt::format("measured_band(A=4,B=4,sigmas={:g},{})", deviations, name(arithmetic));
  }
  return fmt::format("perturbed_band(A=4,roundings={},sigmas={:g})", defined->roundings,
                     deviations);
}

}  // namespace

// The scale is the deviation of the reference when each of its steps is disturbed by noise of four
// roundings of f32 (kernels/providers/python/assay/_band.py): a right kernel rounds otherwise, but
// not worse. Where its steps cannot be traced, inputs and results are moved by what its author
// declares. Outputs of fewer bits round once more.
Tolerance measured_band(const OpInstance& op, Arithmetic arithmetic) {
  const bool is_rounded = precision_bits(output_dtype(op)) < precision_bits(DType::f32);
  return {.scale = deviations,
          .ulps = is_rounded ? 0.5 : 0,
          .zero_is_exact = true,
          .description = describe_band(op, arithmetic)};
}

std::optional<Effort> next_effort(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                                  const Effort& before) {
  if (rule.oracle != Oracle::measured_band) return std::nullopt;
  if (verdict.passed() && objections(verdict, rule, op).empty()) return std::nullopt;
  const double severity = has_agreed_by_chance(verdict, op) ? 0 : verdict.worst.severity;
  const bool is_near_miss = severity < near_miss && band_share(verdict) < near_miss;
  if (is_near_miss && before.draws < many_draws) return Effort{many_draws, before.arithmetic};
  const auto wider = wider_than(before.arithmetic, rule.allowed);
  return wider ? std::optional(Effort{.arithmetic = *wider}) : std::nullopt;
}

// Errors of independent roundings add to a fraction of the deviation: right kernels have 0.07 to
// 0.64 of it, and the best wrong ones 3.
double band_share(const Verdict& verdict) {
  if (verdict.banded == 0) return 0;
  return std::sqrt(verdict.band_squares / static_cast<double>(verdict.banded));
}

// Chernoff's bound of a sum of independent events with the mean m: more than k > m of them have at
// most the chance e^-m (e m / k)^k.
double misrounded_allowed(const Verdict& verdict) {
  const double m = std::max(verdict.misroundings_expected, static_cast<double>(verdict.near_ties));
  if (!(m > 0)) return 0;
  const double rare = std::log(false_alarm_of_misrounded);
  double low = m;
  double high = m + 1;
  const auto log_chance = [&](double k) { return k - m + k * std::log(m / k); };
  while (log_chance(high) > rare) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (log_chance(middle) > rare ? low : high) = middle;
  }
  return std::ceil(high);
}

}  // namespace assay::oracle
