#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

/// Numbers of all sizes, infinities, subnormal numbers and NaN, which come last: a sort that counts
/// within a range, or compares keys of bits, sees more than a range.
Passes sorting() {
  Passes passes = order();
  passes.insert(passes.begin() + 1, Pass{"all_exponents", {any_exponent()}, any_zero_rule});
  return passes;
}

}  // namespace

std::vector<Op> sort_ops() {
  return {make_op({"sort", "y = x in ascending order, NaN last", numbers()}, {size("n")},
                  array_signature, sorting())};
}

}  // namespace assay
