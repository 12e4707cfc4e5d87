#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/params.h"
#include "kernels/base/tensor.h"

// What an op is, as plain data: its parameters, tensors, work, test data and judging rules. The
// table in op_table.cpp is the one place that knows them all; reference and backends implement the
// ops by name, the harness interprets the rules.
namespace assay {

/// The oracles that can judge an output. The formulas are in harness/oracle, one file each.
enum class Oracle {
  exact,           // bit for bit the correctly rounded value
  sum_bound,       // |e| <= L u S + u_out |y|: sums and dot products of S = sum |a_i b_i|
  function_bound,  // |e| <= B ulp(y) + C u |x|
  softmax_bound,
};

struct Rule {
  Oracle oracle = Oracle::exact;
  double ulps = 0;            // B: the declared error of the function that the op evaluates
  double argument_units = 0;  // C: in unit roundoffs of the argument
};

/// How the elements of the inputs are drawn.
enum class Distribution {
  uniform,       // in [low, high)
  stratified,    // random sign, exponent and significand, within [low, high]
  integers,      // so small that every sum of the op is exact (harness/input/exact_data.h)
  unique_words,  // 64-bit words that never repeat within a tensor
};

struct Range {
  double low = -1;
  double high = 1;
};

struct Data {
  Distribution distribution = Distribution::uniform;
  Range range;                     // of f32 and everything narrower
  std::optional<Range> range_f64;  // of f64, where its exponents reach further
};

/// One judged launch: inputs of this kind, outputs judged by this rule.
struct Pass {
  std::string_view name;  // in the CSV column `oracle`: "exact_data", "real_data"
  Data data;
  Rule rule;
};

/// One parameter of an op: a number of [minimum, maximum], or one of `words`.
struct Parameter {
  std::string_view name;
  std::int64_t minimum = 0;
  std::int64_t maximum = std::int64_t{1} << 44;  // beyond any machine's memory
  std::vector<std::string_view> words;
};

/// The tensors and the work of one launch. With several ranks: of each rank.
struct Signature {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  double flops = 0;          // arithmetic operations of one launch
  double bytes = 0;          // compulsory traffic: inputs read once, outputs written once
  std::int64_t terms = 1;    // K: the longest sum behind one output element
  int factors_per_term = 1;  // 2 for products a_i * b_i
  int ranks = 1;             // of a collective op
};

struct Op {
  std::string_view name;
  bool collective = false;   // runs on the ranks of a Communicator
  std::string_view only_on;  // the one backend to which it applies; empty: all
  std::vector<DType> dtypes;
  std::vector<Parameter> parameters;
  Signature (*signature)(DType, const Params&);
  std::array<Pass, 2> passes;  // the second one's data are the timed ones
};

/// Every op, in the order of the table.
std::span<const Op> all_ops();
/// Null when there is none of that name.
const Op* find_op(std::string_view name);

/// Whether the op makes sense on a backend at all (a copy from host to host does on the CPU only).
inline bool applies_to(const Op& op, std::string_view backend) {
  return op.only_on.empty() || op.only_on == backend;
}

/// One op with its parameters resolved.
struct OpInstance {
  const Op* op = nullptr;
  DType dtype = DType::f32;
  Params params;
  Signature signature;
};

/// Checks names, kinds, ranges and sizes; throws UsageError with the valid choices. The parameters
/// come out in the op's order, whatever order they came in.
OpInstance instantiate(const Op& op, DType dtype, const Params& params);

/// Reads the value of one parameter from text, as `--axis` and case files give it.
ParamValue parse_parameter(const Op& op, std::string_view name, std::string_view text);

}  // namespace assay
