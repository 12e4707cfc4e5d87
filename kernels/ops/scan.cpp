#include <utility>

#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

/// Puts special values in twenty places: each one spoils all sums after it.
Passes running_sums(DType dtype, const Params& params) {
  Passes passes = sums();
  for (Data& data : passes[1].data) data.runs = 20;
  // Sums of few bits show a term only while they are small.
  for (const std::int64_t turn : {0, 1}) {
    insert_before_last(passes, Pass{"small_sums", {of_both_signs(1, 2, turn)}, exact_rule});
  }
  return with_real_data(std::move(passes), of_mean_one_half(dtype, params.integer("n")),
                        unbiased_sums);
}

}  // namespace

std::vector<Op> scan_ops() {
  return {make_op({"scan", "y[i] = x[0] + ... + x[i]; integers wrap", signed_numbers()},
                  {size("n")}, array_signature, running_sums)};
}

}  // namespace assay
