#include "harness/oracle/accumulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::oracle {
namespace {

/// Significand bits used of a product's factors if they are stored with more; else 0.
int cut_factor_bits(const OpInstance& op, const MathMode& mode) {
  if (op.signature.factors_per_term < 2 || op.signature.inputs.empty()) return 0;
  const DType stored = op.signature.inputs[0].dtype;
  if (!is_floating(stored)) return 0;  // integers, and the bytes of block-scaled formats
  const int used = std::max(precision_bits(op.format), mode.factor_bits);
  return used < precision_bits(stored) ? used : 0;
}

}  // namespace

// A unit that adds n products to a sum at once shifts all of them to the exponent of the largest
// and cuts off the bits below the last one. Then it cuts the sum to p bits. A step has n + 1
// truncations, none larger than 2^(1 - p) of the terms added so far, so K terms in steps of n take
// at most K + K / n truncations. For n = 1 a product is exact and the sum is cut once. Fasi,
// Higham, Mikaitis, Pranesh: "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science
// 7:e330, 2021.
//
// Devices may round or cut factors to q bits. Cutting errs twice as much, so a product errs by
// 2 u + u^2 of itself with u = 2^(1 - q).
//
// A product of factors in parts is as many terms of the sum. So is a bias here, which is one.
Accumulation accumulation(const OpInstance& op, const MathMode& mode) {
  const auto terms = static_cast<double>(op.signature.terms);
  Accumulation sums;
  sums.bits = mode.accumulator_bits > 0 ? mode.accumulator_bits : precision_bits(accumulator(op));
  sums.truncates = mode.rounding == MathMode::Rounding::truncation;
  // Integers are exact.
  if (is_floating(accumulator(op))) {
    sums.unit_roundoff = std::ldexp(1.0, (sums.truncates ? 1 : 0) - sums.bits);
  }
  sums.steps = std::max(1.0, std::ceil(terms / mode.step));
  if (const ProductTraits* product = op.format.product();
      product != nullptr && op.signature.factors_per_term == 2) {
    sums.parts = product->parts;
    sums.parts_magnitude = product->parts_magnitude;
  }
  sums.longest_chain = sums.parts * (terms + (mode.step > 1 ? sums.steps : 0));
  sums.factor_bits = cut_factor_bits(op, mode);
  if (sums.factor_bits > 0) {
    const double u = std::ldexp(1.0, 1 - sums.factor_bits);
    sums.factor_error = 2 * u + u * u;
  }
  return sums;
}

std::string text_of(const Accumulation& sums, const MathMode& mode) {
  std::string text;
  if (sums.truncates) text += ",truncating";
  if (mode.step > 1) text += fmt::format(",step={}", mode.step);
  if (sums.parts > 1) text += fmt::format(",products={}", sums.parts);
  if (sums.factor_bits > 0) text += fmt::format(",factors={}bits", sums.factor_bits);
  return text;
}

}  // namespace assay::oracle
