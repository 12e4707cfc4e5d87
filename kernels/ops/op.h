#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/memory_space.h"
#include "kernels/core/params.h"
#include "kernels/core/tensor.h"
#include "kernels/ops/rules.h"

// What an op is, as plain data: its parameters, tensors, work, test data and judging rules. The
// table in table.cpp joins the families; reference and backends implement the
// ops by name.
namespace assay {

/// One parameter of an op: a number of [minimum, maximum], or one of `choices`.
struct Parameter {
  std::string_view name;
  std::int64_t minimum = 0;
  std::int64_t maximum = std::int64_t{1} << 44;  // beyond any machine's memory
  std::vector<std::string_view> choices;
  /// Taken where none is given, and then left out of case ids.
  std::optional<ParamValue> default_value;
};

/// The tensors and the work of one launch. With several ranks: of each rank.
struct Signature {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  double flops = 0;          // arithmetic operations of one launch
  double bytes = 0;          // compulsory traffic: inputs read once, outputs written once
  std::int64_t terms = 1;    // K: the longest sum behind one output element
  int factors_per_term = 1;  // 2 for products a_i * b_i, more through layers of them
  int ranks = 1;             // of a collective op; 2 of a copy both ways
  int devices = 1;           // of a lane, where the op is no collective
  /// Odd ranks go the other way: from where the others' output lies to where their input lies.
  bool is_mirrored = false;
  /// In what sums are kept, where it is not accumulator(dtype).
  std::optional<DType> accumulate_in;
  /// Not 0: sums of exact data are scaled, by a power of two, to about this root mean square, so
  /// that an activation behind them is fed values at which its variants differ.
  double sum_rms = 0;
  /// A product x W^T of inputs 0 and 1: their rows may repeat, so that a small reference judges all
  /// of a large output (harness/input/panel.h).
  bool is_product = false;
  /// The output takes the place of input 0.
  bool in_place = false;
  /// The output is input 0 as it is, or the same number everywhere: there, finding the input
  /// untouched, or nothing but one number, is no sign of work left undone.
  bool is_copy = false;
  bool is_constant = false;
};

/// In the order of their launches. The data of the last one are the timed ones.
using Passes = std::vector<Pass>;

struct Op {
  std::string_view name;
  std::string_view formula;  // "y[i] = a[i] + b[i]"
  bool collective = false;   // runs on the ranks of a Communicator
  /// Takes the devices of its signature together, or the one of a backend whose ranks share it.
  bool multi_device = false;
  /// The op whose reference tells what is right, where not its own does.
  std::string_view judged_as;
  std::vector<MemorySpace> memory_spaces;  // of the devices to which it applies; empty: all
  std::vector<DType> dtypes;
  std::vector<DType> matrix_unit_dtypes;  // of those: formats that only matrix units compute in
  std::vector<Parameter> parameters;
  /// Throws NotApplicable for parameters that do not go together.
  Signature (*signature)(DType, const Params&) = nullptr;
  Passes passes;
  /// Set where data or rules depend on the parameters; then `passes` is empty.
  Passes (*passes_of)(DType, const Params&) = nullptr;
};

/// Every op, in the order of the table.
std::span<const Op> all_ops();
/// Null when there is none of that name.
const Op* find_op(std::string_view name);

/// One op with its parameters resolved.
struct OpInstance {
  const Op* op = nullptr;
  DType dtype = DType::f32;
  Params params;
  Signature signature;
};

/// The tensors of one rank.
struct RankTensors {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};
RankTensors tensors_of(const Signature& signature, int rank);

/// The dtype of the elements that are judged.
inline DType output_dtype(const OpInstance& op) { return op.signature.outputs[0].dtype; }

/// How this instance is tested.
Passes passes(const OpInstance& op);

/// The dtype in which the op's sums are kept.
inline DType accumulator(const OpInstance& op) {
  return op.signature.accumulate_in.value_or(accumulator(op.dtype));
}

/// Checks names, kinds, ranges and sizes; throws UsageError with the valid choices. The parameters
/// come out in the op's order, whatever order they came in.
OpInstance instantiate(const Op& op, DType dtype, const Params& params);

/// Reads the value of one parameter from text, as `--axis` and case files give it.
ParamValue parse_parameter(const Op& op, std::string_view name, std::string_view text);

}  // namespace assay
