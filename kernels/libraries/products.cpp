#include "kernels/libraries/products.h"

namespace assay::libraries {

Products products_of(const Problem& problem) {
  const Shape& a = problem.input(0);
  const Shape& b = problem.input(1);
  if (problem.op() == "batched_matmul") return {.batch = a[0], .m = a[1], .n = b[2], .k = a[2]};
  if (problem.op() == "linear_dx") return {.m = a[0], .n = b[1], .k = a[1]};
  if (problem.op() == "linear_dw") {
    return {.m = a[1], .n = b[1], .k = a[0], .a_transposed = true};
  }
  if (problem.word("bias") == "1" || problem.word("act") != "none")
    throw NotMine("a BLAS has neither bias nor activation");
  return {.m = a[0], .n = b[0], .k = a[1], .b_transposed = true};
}

}  // namespace assay::libraries
