#include <algorithm>
#include <utility>

#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"
#include "kernels/ops/views.h"

namespace assay {
namespace {

Signature transpose_signature(DType dtype, const Params& params) {
  const std::int64_t rows = params.integer("rows");
  const std::int64_t cols = params.integer("cols");
  Signature s{.inputs = {{dtype, {rows, cols}}}, .outputs = {{dtype, {cols, rows}}}};
  s.is_copy = rows == 1 || cols == 1;
  return with_work(std::move(s), 0);
}

Signature gather_signature(DType dtype, const Params& params) {
  const std::int64_t cols = params.integer("cols");
  const std::int64_t taken = params.integer("count");
  Signature s{.inputs = {{dtype, {params.integer("rows"), cols}}, {DType::i64, {taken}}},
              .outputs = {{dtype, {taken, cols}}}};
  s.is_copy = s.inputs[0].shape[0] == 1 && taken == 1;
  s.is_constant = s.inputs[0].elements() == 1;
  // Counts only the chosen rows: others need not be read.
  s.bytes =
      2 * static_cast<double>(s.outputs[0].bytes()) + static_cast<double>(s.inputs[1].bytes());
  return s;
}

/// Gathers rows of input 0 by the indices of input 1: any, those at borders, and those of a slice,
/// from its end, with few exchanged.
Passes gather_passes(DType /*dtype*/, const Params& params) {
  const Data indices{.distribution = Distribution::indices};
  const Data from_the_end{.distribution = Distribution::border_indices};
  const Data from_the_start{.distribution = Distribution::border_indices, .turn = 1};
  Passes passes{Pass{"all_exponents", {any_exponent(), from_the_end}, moved_rule},
                Pass{"all_exponents", {any_exponent(), from_the_start}, moved_rule},
                Pass{"real_data", {real_data, indices}, moved_rule}};
  const std::int64_t slice = std::min(params.integer("rows"), params.integer("count"));
  for (const std::int64_t turn : {0, 1, 2}) {
    const Data ordered{.distribution = Distribution::ordered,
                       .range = {0, as_double(std::max<std::int64_t>(1, slice)) - 1},
                       .turn = turn};
    insert_before_last(passes, Pass{"ordered", {any_exponent(), ordered}, moved_rule});
  }
  return passes;
}

}  // namespace

std::vector<Op> layout_ops() {
  std::vector<Op> ops = with_views(
      {make_op({"gather", "y[i][c] = x[index[i]][c]", numbers()},
               {extent("rows"), extent("cols"), size("count")}, gather_signature, gather_passes)});
  // To transpose is to lay out a view.
  ops.insert(ops.begin(), make_op({"transpose", "y[c][r] = x[r][c]", numbers()},
                                  {extent("rows"), extent("cols")}, transpose_signature, moves()));
  return ops;
}

}  // namespace assay
