#include "harness/input/drawn_scale.h"

#include <algorithm>

#include "harness/input/distributions.h"
#include "harness/input/exact_data.h"

namespace assay::input {
namespace {

constexpr int max_own_shift = 3;

/// Largest exponent of either sign. Integers of 11 bits times 2^-11 2^-3 2^-3 are exact in f16.
/// E4M3 holds no fractions that small.
int spread(Format format) {
  if (!is_floating(format) || format == DType::e4m3 || block_format(format) != nullptr) return 0;
  return format == DType::f16 ? 3 : 6;
}

}  // namespace

int drawn_exponent(const OpInstance& op, const TensorKey& key) {
  const int most = spread(op.format);
  const std::uint64_t choice = mix(key.seed ^ mix(static_cast<std::uint64_t>(key.pass) + 1));
  const int drawn = static_cast<int>(choice % static_cast<std::uint64_t>(2 * most + 1)) - most;
  const int factors = op.signature.factors_per_term;
  const bool is_product = factors == 2 && op.signature.inputs.size() > 1;
  if (is_product) return key.input == 0 ? drawn : key.input == 1 ? -drawn : 0;
  if (is_stacked_weight(op, key.input)) return 0;
  return op.format == DType::f16 ? std::min(drawn, -drawn) : drawn;
}

std::int64_t own_scale_elements(const OpInstance& op, const Pass& pass, int input) {
  const Signature& s = op.signature;
  const bool applies =
      s.is_product && s.sum_rms == 0 && spread(op.format) > 0 && input < 2 &&
      pass.rule.oracle != Oracle::freivalds &&
      pass.data_of(static_cast<std::size_t>(input)).distribution == Distribution::integers;
  if (!applies) return 0;
  // In units of the smallest products, of both rows, a bias is as many times as large.
  constexpr std::int64_t most = std::int64_t{1} << 2 * max_own_shift;
  const bool has_bias = s.inputs.size() > 2;
  if (has_bias && exact_integers(op).limit < most) return 0;
  return s.inputs[static_cast<std::size_t>(input)].line_elements();
}

int own_exponent(const TensorKey& key, std::int64_t run) {
  const auto word = static_cast<std::uint64_t>(key.input) << 56U | static_cast<std::uint64_t>(run);
  const std::uint64_t choice =
      mix(key.seed ^ mix(static_cast<std::uint64_t>(key.pass) ^ mix(word)));
  return -static_cast<int>(choice % (max_own_shift + 1));
}

}  // namespace assay::input
