#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

/// Numbers of all sizes, infinities, subnormal numbers and NaN, which come last: a sort that counts
/// within a range, or compares keys of bits, sees more than a range.
Passes sorting(DType dtype, const Params& /*params*/) {
  Passes passes = order();
  passes.insert(passes.begin() + 1, Pass{"all_exponents", {any_exponent()}, any_zero_rule});
  const double greatest = size_bytes(dtype) == 1 ? 100 : size_bytes(dtype) == 2 ? 6e4 : 1e9;
  for (std::int64_t turn = 0; turn < orders; ++turn) {
    const Data ordered{.distribution = Distribution::ordered, .range = {0, greatest}, .turn = turn};
    insert_before_last(passes, Pass{"ordered", {ordered}, any_zero_rule});
  }
  const Data equal{.distribution = Distribution::constant, .needle = 1};
  insert_before_last(passes, Pass{"equal", {equal}, any_zero_rule});
  return with_each_digit(std::move(passes), dtype);
}

}  // namespace

std::vector<Op> sort_ops() {
  return {make_op({"sort", "y = x in ascending order, NaN last", numbers()}, {size("n")},
                  array_signature, sorting)};
}

}  // namespace assay
