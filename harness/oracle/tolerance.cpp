#include "harness/oracle/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::oracle {

namespace {

Tolerance of_oracle(const Rule& rule, const OpInstance& op, const MathMode& mode,
                    Arithmetic arithmetic) {
  const bool is_exact = !is_floating(output_dtype(op)) && rule.oracle != Oracle::freivalds;
  if (is_exact) return exact(rule);
  switch (rule.oracle) {
    case Oracle::exact:
      return exact(rule);
    case Oracle::freivalds:
      return freivalds();
    case Oracle::sum_bound:
      return sum_bound(rule, op, mode);
    case Oracle::function_bound:
      return function_bound(rule, op);
    case Oracle::relative_bound:
      return relative_bound(rule, op, mode);
    case Oracle::running_bound:
      return running_bound(rule, op, mode);
    case Oracle::softmax_bound:
      return softmax_bound(rule, op);
    case Oracle::layernorm_bound:
      return layernorm_bound(op);
    case Oracle::measured_band:
      return measured_band(op, arithmetic);
  }
  __builtin_unreachable();
}

}  // namespace

Tolerance tolerance(const Rule& rule, const OpInstance& op, const MathMode& mode,
                    Arithmetic arithmetic) {
  Tolerance t = of_oracle(rule, op, mode, arithmetic);
  t.any_nonfinite = rule.any_nonfinite;
  if (t.any_nonfinite) t.description += "(any non-finite)";
  return t;
}

// |RN(z) - y| <= |z - y| + u |z| + half the smallest subnormal, and |z| <= |y| + |z - y|. That half
// is 0 in f64, where the whole stands for it.
Tolerance rounded_to(DType dtype, Tolerance t) {
  const double u = unit_roundoff(dtype);
  const double smallest = std::ldexp(1.0, smallest_exponent(dtype) - precision_bits(dtype) + 1);
  t.scale *= 1 + u;
  t.relative = t.relative * (1 + u) + u;
  if (t.probable) {
    t.probable->scale *= 1 + u;
    t.probable->relative = t.probable->relative * (1 + u) + u;
  }
  t.ulps *= 1 + u;
  t.absolute =
      t.absolute * (1 + u) + std::max(smallest / 2, std::numeric_limits<double>::denorm_min());
  return t;
}

Tolerance rounded_to_output(const OpInstance& op, const Tolerance& t) {
  const DType out = output_dtype(op);
  return precision_bits(out) < precision_bits(accumulator(op)) ? rounded_to(out, t) : t;
}

Tolerance exact(const Rule& rule) {
  return {.exact = true,
          .any_zero = rule.any_zero,
          .payloads = rule.payloads,
          .description = rule.any_zero   ? "exact(any zero)"
                         : rule.payloads ? "exact(payloads)"
                                         : "exact"};
}

}  // namespace assay::oracle
