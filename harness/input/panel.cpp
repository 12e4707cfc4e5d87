#include "harness/input/panel.h"

#include <algorithm>
#include <array>

#include "kernels/ops/block_input.h"
#include "kernels/ops/defined.h"

namespace assay::input {
namespace {

/// Pairs of primes with ever larger products, to cover more rows.
constexpr std::array<std::array<std::int64_t, 2>, 9> primes{{{3, 5},
                                                             {7, 11},
                                                             {17, 19},
                                                             {37, 41},
                                                             {127, 131},
                                                             {257, 263},
                                                             {521, 523},
                                                             {1031, 1033},
                                                             {4093, 4099}}};

/// Least period of the rows of a product.
constexpr std::int64_t min_period = 127;

/// Least number of different outputs for judging their errors together.
constexpr std::int64_t min_outputs = 256;

/// Period of the rows; the first pass has another one than later passes. At least `least`, or
/// `rows` if no prime pair fits.
std::int64_t period(std::int64_t rows, std::int64_t least, int pass) {
  for (const auto& pair : primes) {
    if (rows <= pair[0]) return rows;
    if (pair[0] * pair[1] > rows && pair[0] >= least) return pair.at(pass == 0 ? 0 : 1);
  }
  return rows;
}

/// Tensors of so many bytes are judged without repetition.
constexpr std::int64_t few_bytes = std::int64_t{1} << 22U;

/// True if the input has a row for each of those that stand alone: then it is longer with more.
bool has_rows(const OpInstance& op, int input) {
  if (is_defined(op.op->name)) {
    const DefinedInput& defined =
        find_defined(op.op->name)->inputs.at(static_cast<std::size_t>(input));
    return !defined.extents.empty() && defined.extents.front() == op.op->independent_rows;
  }
  Params params = op.params;
  params.set(op.op->independent_rows, op.params.integer(op.op->independent_rows) - 1);
  const auto at = static_cast<std::size_t>(input);
  return instantiate(*op.op, op.format, params).signature.inputs[at].shape !=
         op.signature.inputs[at].shape;
}

Panel panel_of_rows(const OpInstance& op, int pass) {
  if (op.op->independent_rows.empty() || op.signature.bytes <= few_bytes) return {};
  const bool is_users = is_defined(op.op->name);
  if (!is_users && pass + 1 == std::ssize(passes(op))) return {};
  const std::int64_t rows = op.params.integer(op.op->independent_rows);
  const std::int64_t repeated = period(rows, is_users ? 1 : min_period, pass);
  return repeated < rows ? Panel{.rows = repeated} : Panel{};
}

}  // namespace

Panel panel(const OpInstance& op, int pass) {
  if (!op.signature.is_product) return panel_of_rows(op, pass);
  const Shape& y = op.signature.outputs[0].shape;
  const Passes all = passes(op);
  if (all.at(static_cast<std::size_t>(pass)).rule.oracle == Oracle::freivalds) {
    return {y.at(0), y.at(1)};
  }
  const auto least_beside = [](std::int64_t others) {
    const std::int64_t different = std::clamp<std::int64_t>(others, 1, min_period);
    return std::max(min_period, (min_outputs + different - 1) / different);
  };
  return {period(y.at(0), least_beside(y.at(1)), pass),
          period(y.at(1), least_beside(y.at(0)), pass)};
}

bool repeats_rows_apart(const OpInstance& op, const Panel& panel) {
  return panel.rows > 0 && !op.signature.is_product && !is_defined(op.op->name);
}

std::int64_t rows_before_repeat(const OpInstance& op, int pass, int input) {
  const Panel p = panel(op, pass);
  if (p.rows == 0) return 0;
  if (!op.signature.is_product) return has_rows(op, input) ? p.rows : 0;
  const auto block = block_input(op, static_cast<std::size_t>(input));
  const bool is_x = block ? block->operand == 0 : input == 0;
  return is_x ? p.rows : p.cols;
}

std::int64_t repeatable_rows(const TensorSpec& spec) {
  return spec.axis ? spec.elements() / spec.line_elements() : spec.shape.at(0);
}

}  // namespace assay::input
