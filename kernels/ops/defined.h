#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/dtype.h"
#include "kernels/ops/arithmetic.h"
#include "kernels/ops/op.h"

// Ops that users define. A reference is all that is known of one: its rule is measured.
namespace assay {

/// Size that a parameter of a defined op has in the profiles from a level on: 0 is the smallest.
struct DefinedSize {
  std::int64_t value = 0;
  std::uint8_t level = 0;
};

struct DefinedParameter {
  std::string name;
  std::vector<DefinedSize> sizes;
};

/// A tensor of a defined op. Extents are texts (kernels/ops/extent.h).
struct DefinedTensor {
  std::optional<DType> dtype;  // empty: that of the case
  std::vector<std::string> extents;
};

/// Numbers that the user wants in an input.
enum class DefinedNumbers : std::uint8_t {
  normal,        // of mean 0 and deviation 1
  uniform,       // in [low, high)
  whole,         // of low to high, both included
  given,         // as the definition's own code draws them (harness/input/given_data.h)
  given_or_any,  // likewise, but the op takes any other number too
};

struct DefinedInput : DefinedTensor {
  DefinedNumbers numbers = DefinedNumbers::normal;
  std::string low, high;  // numbers; of `whole` ones extents too
};

struct DefinedOp {
  std::string name;
  std::string formula;
  std::vector<DType> dtypes;
  std::vector<DefinedParameter> parameters;
  std::vector<DefinedInput> inputs;
  std::vector<DefinedTensor> outputs;
  std::string terms;     // extent: the longest sum behind one output
  bool is_ring = false;  // computes by + - * and moves alone: integers stay exact
  Arithmetic allowed = Arithmetic::f32;
  /// Roundings that the author of an untraced reference declares; empty: its steps are traced.
  std::string roundings;
  std::string rows;  // parameter that counts independent rows (Op::independent_rows); empty: none
  /// Why nothing can judge it; empty: it can be judged. Its cases are skipped with this reason.
  std::string refusal;
};

/// Values that a user's reference gives for one output, and how far arithmetic of f32 disturbs it.
struct MeasuredOutput {
  std::vector<double> value;  // an integer's bits, where the output is one
  /// Deviation of each element; 0: exact. Infinite: the reference cannot tell.
  std::vector<double> deviation;
};

/// Adds ops to the table (kernels/ops/op.h). Throws UsageError for definitions that no op can have.
void define_ops(std::vector<DefinedOp> ops);
/// All that were defined.
const std::deque<DefinedOp>& every_defined_op();
/// The definition of an op; null for a built-in one.
const DefinedOp* find_defined(std::string_view op);
inline bool is_defined(std::string_view op) { return find_defined(op) != nullptr; }
/// Why nothing can judge a defined op; empty for all others.
std::string_view refusal_of(std::string_view op);

/// Suite that has them; ids of their cases leave it out.
inline constexpr std::string_view suite_of_defined_ops = "own_ops";

}  // namespace assay
