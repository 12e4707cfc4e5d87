#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {

std::vector<Op> sort_ops() {
  return {make_op({"sort", "y = x in ascending order", numbers()}, {size("n")}, array_signature,
                  order())};
}

}  // namespace assay
