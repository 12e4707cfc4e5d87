#include "harness/input/panel.h"

#include <array>

namespace assay::input {
namespace {

/// Pairs of primes, whose products cover ever more rows.
constexpr std::array<std::array<std::int64_t, 2>, 4> primes{
    {{127, 131}, {257, 263}, {521, 523}, {1031, 1033}}};

/// Another one in the first pass than in those behind it.
std::int64_t period(std::int64_t rows, int pass) {
  for (const auto& pair : primes) {
    if (rows <= pair[0]) return rows;
    if (pair[0] * pair[1] > rows) return pair.at(pass == 0 ? 0 : 1);
  }
  return rows;
}

}  // namespace

Panel panel(const OpInstance& op, int pass) {
  if (!op.signature.is_product) return {};
  const Shape& y = op.signature.outputs[0].shape;
  const Passes all = passes(op);
  if (all.at(static_cast<std::size_t>(pass)).rule.oracle == Oracle::freivalds) {
    return {y.at(0), y.at(1)};
  }
  return {period(y.at(0), pass), period(y.at(1), pass)};
}

std::int64_t rows_before_repeat(const OpInstance& op, int pass, int input) {
  const Panel p = panel(op, pass);
  return input == 0 ? p.rows : p.cols;
}

}  // namespace assay::input
