#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/format.h"
#include "kernels/core/memory_space.h"
#include "kernels/core/params.h"
#include "kernels/core/tensor_spec.h"
#include "kernels/ops/rules.h"

// Data model of an op: its parameters, tensors, work, test data and judging rules. The table in
// table.cpp joins the families. The reference and the backends implement the ops by name.
namespace assay {

/// One parameter of an op: a number of [minimum, maximum], or one of `choices`.
struct Parameter {
  std::string_view name;
  std::int64_t minimum = 0;
  std::int64_t maximum = std::int64_t{1} << 44;  // exceeds any machine's memory
  std::vector<std::string_view> choices;
  /// Used when no value is given, and then left out of case ids.
  std::optional<ParamValue> default_value;
};

/// Tensors and work of one launch. With several ranks: of each rank.
struct Signature {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  double flops = 0;          // arithmetic operations of one launch
  double bytes = 0;          // compulsory traffic: inputs read once, outputs written once
  std::int64_t terms = 1;    // K: length of the longest sum behind one output element
  int factors_per_term = 1;  // 2 for products a_i * b_i, more through several layers
  int ranks = 1;             // ranks of a collective op; 2 for a copy both ways
  int devices = 1;           // devices of a lane, if the op is no collective
  /// Rank of a collective that alone has an output; -1: each has one.
  int output_rank = -1;
  /// True if all ranks of a collective get the same output.
  bool ranks_agree = false;
  /// busbw over algbw: the share of the message that each rank's link carries.
  double bus_share = 1;
  /// True if odd ranks copy the other way: from the place of the others' output to that of their
  /// input.
  bool is_mirrored = false;
  /// Dtype of the sums, if not accumulator(format).
  std::optional<DType> accumulate_in;
  /// If not 0: sums of exact data are scaled, by a power of two, to about this root mean square.
  /// Variants of the activation after them differ at such values.
  double sum_rms = 0;
  /// True for a product: y[i][j] is line i of input 0 times line j of input 1 (TensorSpec::axis).
  /// Lines may repeat: a small reference judges all of a large output (harness/input/panel.h).
  bool is_product = false;
  /// Output that is judged, and comes first here (of_output); the order of kernels otherwise.
  std::size_t judged_output = 0;
  /// True if the output replaces input 0.
  bool in_place = false;
  /// True if the output is a copy of input 0, or the same number everywhere. Then an untouched
  /// input, or a single repeated number, does not show that the kernel did no work.
  bool is_copy = false;
  bool is_constant = false;
};

/// Passes in the order of their launches. The data of the last one are timed.
using Passes = std::vector<Pass>;

/// The number that leaves a result as it would be without the element: of a product 1, of a minimum
/// the greatest number.
enum class Neutral : std::uint8_t { zero, one, least, greatest };

/// Consequence of the format and the parameters of an op, or of the DType of its tensors where that
/// says all.
template <class T>
class RuleOf {
 public:
  RuleOf() = default;
  RuleOf(T (*of)(DType, const Params&))  // NOLINT: families name functions
      : of_([of](Format format, const Params& params) { return of(format.stored(), params); }) {}
  RuleOf(std::function<T(Format, const Params&)> of) : of_(std::move(of)) {}  // NOLINT
  RuleOf(T (*of)(Format, const Params&)) : of_(of) {}                         // NOLINT

  bool is_set() const { return of_ != nullptr; }
  T operator()(Format format, const Params& params) const { return of_(format, params); }

 private:
  std::function<T(Format, const Params&)> of_;
};

using SignatureOf = RuleOf<Signature>;
using PassesOf = RuleOf<Passes>;

struct Op {
  std::string_view name;
  std::string_view formula;  // "y[i] = a[i] + b[i]"
  bool collective = false;   // runs on the ranks of a Communicator
  /// Suite that the op's name also means: --suite takes it, and ids of cases begin with it.
  std::string_view stands_for_suite;
  /// Takes all devices of its signature together, or the one device of a backend whose ranks share
  /// it.
  bool multi_device = false;
  /// True if each element is the value of a function, which may take longer than its bytes.
  bool evaluates_function = false;
  /// True for steps on the placement layer of the harness, which call other ops: no backend has a
  /// kernel of it.
  bool is_scenario = false;
  std::vector<MemorySpace> memory_spaces;  // memories of the devices it applies to; empty: all
  std::vector<Format> formats;
  std::vector<Format> matrix_unit_formats;  // subset that only matrix units compute in
  std::vector<Parameter> parameters;
  /// Parameter that counts the outermost rows of the output, each of which depends only on the same
  /// row or line of the inputs of so many. Fewer of them are the same problem in part. Empty: none.
  std::string_view independent_rows;
  /// Likewise of the output's columns: parameter that counts them, each of which depends only on
  /// the same row or line of the inputs of so many, as the outputs of a layer do. Empty: none.
  std::string_view independent_columns = {};
  Neutral neutral = Neutral::zero;
  /// Throws NotApplicable for parameters that do not fit together.
  SignatureOf signature;
  Passes passes;
  /// Set if data or rules depend on the parameters; then `passes` is empty.
  PassesOf passes_of;
};

/// Lists every op, in the order of the table.
std::span<const Op> op_table();
/// Adds an op of a user, before anything is planned. Its texts must live as long as the process,
/// and its name must be new. Throws UsageError if there are too many.
void add_op(Op op);
/// Returns null for an unknown name.
const Op* find_op(std::string_view name);

/// One op with its parameters resolved.
struct OpInstance {
  const Op* op = nullptr;
  Format format = DType::f32;
  Params params;
  Signature signature;

  /// DType of its tensors, or of the factors of a product.
  DType dtype() const { return format.stored(); }
};

/// Ranks that have an output, in ascending order.
std::vector<int> output_ranks(const Signature& signature);
/// Number of elements that a launch leaves in the outputs of all ranks.
std::int64_t output_elements(const Signature& signature);

/// The tensors of one rank. The output of a rank without one has no elements.
struct RankTensors {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};
RankTensors tensors_of(const Signature& signature, int rank);

/// The op as one of its outputs is judged: that one comes first.
OpInstance of_output(OpInstance op, std::size_t output);

/// Dtype of the elements that are judged.
inline DType output_dtype(const OpInstance& op) { return op.signature.outputs[0].dtype; }

/// Neutral number of the op's inputs; that of a collective depends on its reduction.
Neutral neutral_of(const OpInstance& op);

/// Test passes of this instance.
Passes passes(const OpInstance& op);

/// Dtype in which the op keeps its sums.
inline DType accumulator(const OpInstance& op) {
  return op.signature.accumulate_in.value_or(accumulator(op.format));
}

/// Checks names, kinds, ranges and sizes. Throws UsageError with the valid choices. Returns the
/// parameters in the op's order, whatever their order in `params`.
OpInstance instantiate(const Op& op, Format format, const Params& params);

/// Reads the value of one parameter from text, as `--axis` and case files give it.
ParamValue parse_parameter(const Op& op, std::string_view name, std::string_view text);

}  // namespace assay
