#include <utility>

#include "kernels/ops/elementwise.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/views.h"

namespace assay {
namespace {

Signature cast_signature(DType dtype, const Params& params) {
  TensorSpec to = elementwise_tensor(dtype, params);
  to.dtype = *parse_dtype(params.word("to"));
  Signature s{.inputs = {elementwise_tensor(dtype, params)}, .outputs = {to}};
  s.is_copy = to.dtype == dtype;
  return with_work(std::move(s), as_double(to.elements()));
}

/// Test data within the range of the dtype that the parameter `to` names.
Passes cast_passes() {
  const Data within{.distribution = Distribution::castable};
  const Data plain{.distribution = Distribution::small_integers, .range = {0, 127}};
  Data above_zero{.distribution = Distribution::small_integers, .range = {1, 120}};
  Passes passes = judged_on(within, plain, exact_rule);
  for (above_zero.turn = 0; above_zero.turn < 2; ++above_zero.turn) {
    insert_before_last(passes, Pass{"small_numbers", {above_zero}, exact_rule});
  }
  return passes;
}

Op cast_op(const OpRow& row) {
  std::vector<std::string_view> names;
  for (const DType dtype : all_dtypes()) names.push_back(name(dtype));
  return make_op(row,
                 {choice("to", names), size("n"), optional_extent("cols"), optional_extent("ld")},
                 cast_signature, cast_passes());
}

}  // namespace

std::vector<Op> cast_ops() {
  return with_views(
      {cast_op({"cast",
                "y[i] = x[i] as `to`: to nearest even, to integers towards zero, integers wrap, "
                "e4m3 and e5m2 saturate, bool is x[i] != 0",
                {all_dtypes().begin(), all_dtypes().end()}})});
}

}  // namespace assay
