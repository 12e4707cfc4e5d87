#include "kernels/ops/broadcast.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/ops/elementwise.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/views.h"

// Elementwise ops of (outer, n, inner), one of whose operands is (outer, inner): it is repeated
// along n. That is a scalar, a row, a column, or the middle of three extents.
namespace assay {
namespace {

struct BroadcastRow {
  std::string_view name;
  std::string_view base;
  std::string_view formula;
};

constexpr BroadcastRow broadcast_rows[] = {
    {"add_broadcast", "add", "y[o][n][i] = a[o][n][i] + b[o][i], or a[o][i]; integers wrap"},
    {"sub_broadcast", "sub", "y[o][n][i] = a[o][n][i] - b[o][i], or a[o][i]; integers wrap"},
    {"mul_broadcast", "mul", "y[o][n][i] = a[o][n][i] b[o][i], or a[o][i]; integers wrap"},
    {"div_broadcast", "div", "y[o][n][i] = a[o][n][i] / b[o][i], or a[o][i]"},
    {"min_broadcast", "min", "y[o][n][i] = min(a[o][n][i], b[o][i]), or a[o][i]; NaN if either is"},
    {"max_broadcast", "max", "y[o][n][i] = max(a[o][n][i], b[o][i]), or a[o][i]; NaN if either is"},
    {"less_broadcast", "less", "y[o][n][i] = a[o][n][i] < b[o][i], or a[o][i]"},
    {"equal_broadcast", "equal", "y[o][n][i] = a[o][n][i] == b[o][i], or a[o][i]"},
    {"where_broadcast", "where",
     "y[o][n][i] = mask[o][n][i] ? a[o][n][i] : b[o][i], or one of the others at [o][i]"},
};

/// The base's signature on tensors of three extents, one of them without the middle one.
Signature repeated(const Op& base, Format format, const Params& params,
                   const std::vector<std::string_view>& operands) {
  const std::int64_t outer = params.integer("outer");
  const std::int64_t n = params.integer("n");
  const std::int64_t inner = params.integer("inner");
  Params flat;
  flat.set("n", element_count({outer, n, inner}));
  Signature s = base.signature(format, flat);
  for (auto* tensors : {&s.inputs, &s.outputs}) {
    for (TensorSpec& tensor : *tensors) tensor.shape = {outer, n, inner};
  }
  const auto of = std::ranges::find(operands, params.word("repeat")) - operands.begin();
  s.inputs.at(static_cast<std::size_t>(of)).shape = {outer, inner};
  const double flops = s.flops;
  return with_work(std::move(s), flops);
}

bool takes_turns(const Data& data) { return data.distribution == Distribution::alternating; }
bool is_like_first(const Pass& pass) { return std::ranges::any_of(pass.data, &Data::like_first); }

/// A repeated element meets only half of the other operand's turns. Adds passes with the other
/// half.
Passes with_other_turns(const Passes& passes) {
  Passes all;
  for (const Pass& pass : passes) {
    if (pass.data.size() == 2 && std::ranges::all_of(pass.data, takes_turns) &&
        !is_like_first(pass)) {
      Pass other = pass;
      other.data[1].turn = 1 - pass.data[1].turn;
      all.push_back(std::move(other));
    }
    all.push_back(pass);
  }
  return all;
}

/// A repeated operand cannot equal the first one everywhere. Both take one of two numbers instead,
/// so that elements are equal in one pass and differ in the next.
Passes with_equal_numbers(Passes passes) {
  const auto either = [](std::int64_t turn) {
    return Data{.distribution = Distribution::alternating, .range = {32, 32}, .turn = turn};
  };
  const auto equal = std::ranges::find_if(passes, is_like_first);
  if (equal == passes.end()) return passes;
  equal->data = {either(0), either(0)};
  const Pass first{equal->name, {either(1), either(1)}, equal->rule};
  const Pass second{equal->name, {either(1), either(0)}, equal->rule};
  passes.insert(equal, {first, second});
  return passes;
}

/// A stale result of a dtype of few bits is often right by chance, but not where signs take turns.
Passes with_turns(Passes passes) {
  const auto has_turns = [](const Pass& pass) {
    return std::ranges::any_of(pass.data, takes_turns);
  };
  if (std::ranges::any_of(passes, has_turns)) return passes;
  return with_signs_in_turns(std::move(passes), {1, 2});
}

/// A repeated scalar is one number: also zero, the ends of the dtype, and NaN.
Passes with_special_numbers(Passes passes, bool has_nan) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> numbers{0, infinity, -infinity};
  if (has_nan) numbers.push_back(std::numeric_limits<double>::quiet_NaN());
  for (const double number : numbers) {
    const Data constant{.distribution = Distribution::constant, .needle = number};
    const Rule rule = passes.front().rule;
    insert_before_last(passes, Pass{"special_operand", {any_exponent(), constant}, rule});
    insert_before_last(passes, Pass{"special_operand", {constant, any_exponent()}, rule});
  }
  return passes;
}

/// Makes the same op with one operand repeated. Its data and rules are those of each element.
Op broadcast(Op op, const BroadcastRow& row) {
  const bool is_choice = row.base == "where";
  const std::vector<std::string_view> operands =
      is_choice ? std::vector<std::string_view>{"mask", "a", "b"}
                : std::vector<std::string_view>{"a", "b"};
  op.signature = std::function([base = op, operands](Format format, const Params& params) {
    return repeated(base, format, params, operands);
  });
  if (!is_choice) {
    op.passes_of =
        std::function([passes = with_turns(with_equal_numbers(with_other_turns(op.passes)))](
                          Format format, const Params&) {
          return with_special_numbers(passes, is_floating(format));
        });
    op.passes.clear();
  }
  op.name = row.name;
  op.formula = row.formula;
  op.parameters = {extent("outer"), size("n"), extent("inner"), choice("repeat", operands)};
  return op;
}

}  // namespace

std::string_view base_of_broadcast(std::string_view name) {
  for (const BroadcastRow& row : broadcast_rows) {
    if (row.name == name) return row.base;
  }
  throw std::logic_error("no op with a repeated operand");
}

std::vector<Op> broadcast_ops() {
  std::vector<Op> all;
  const std::vector<Op> elementwise = elementwise_ops();
  for (const BroadcastRow& row : broadcast_rows) {
    all.push_back(broadcast(*std::ranges::find(elementwise, row.base, &Op::name), row));
  }
  return with_views(std::move(all));
}

}  // namespace assay
