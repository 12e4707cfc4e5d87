#include <utility>

#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"
#include "kernels/ops/views.h"

namespace assay {
namespace {

/// Puts special values in twenty places, or in each of as many lines: one spoils all sums after it.
Passes running_sums(DType dtype, const Params& params) {
  Passes passes = sums();
  const TensorSpec x = array_of(dtype, params);
  constexpr int places = 20;
  const bool has_many_lines = x.axis && x.elements() >= places * x.line_elements();
  for (Data& data : passes[1].data) data.runs = has_many_lines ? 0 : places;
  // Sums of few bits show a term only while they are small.
  for (const std::int64_t turn : {0, 1}) {
    insert_before_last(passes, Pass{"small_sums", {of_both_signs(1, 2, turn)}, exact_rule});
  }
  const std::int64_t n = params.integer("n");
  passes = with_real_data(std::move(passes), of_mean_one_half(dtype, n), unbiased_sums);
  if (!is_floating(dtype)) return passes;
  passes = with_lone_terms(with_specials_in_turns(std::move(passes), x), exact_rule);
  passes = with_signs_in_turns(with_all_sizes_in_turns(std::move(passes), x, sum_rule), {1, 1});
  if (dtype == DType::f16) insert_before_last(passes, partly_beyond_f16(n));
  passes = with_few_terms_in_turns(std::move(passes), x, sum_rule);
  // The bound of a sum is as many roundings as it has elements, whatever they are.
  for (Pass& pass : passes) pass.rule.roundings = 0;
  return passes;
}

}  // namespace

std::vector<Op> scan_ops() {
  return with_views({
      make_op({"scan", "y[i] = x[0] + ... + x[i]; integers wrap", signed_numbers()}, {size("n")},
              array_signature, running_sums),
      make_op({"scan_axis", "y[o][n][i] = x[o][0][i] + ... + x[o][n][i]; integers wrap",
               signed_numbers()},
              {extent("outer"), size("n"), extent("inner")}, array_signature, running_sums),
  });
}

}  // namespace assay
