#include "kernels/op_deviations.h"

#include <limits>

namespace assay {
namespace {

/// A product of bf16 by tiles takes subnormal factors for zeros, so that infinity times one is NaN.
Deviation subnormal_tiles(std::string_view op) {
  return {.id = "amx-bf16-subnormal",
          .library = "oneDNN",
          .kind = "amx",
          .op = op,
          .dtypes = {DType::bf16},
          .where = Deviation::Where::infinity_by_subnormal,
          .value = std::numeric_limits<double>::quiet_NaN(),
          .source =
              "Intel, Instruction Set Extensions Programming Reference: TDPBF16PS takes "
              "denormal inputs for zeros, whatever MXCSR says"};
}

}  // namespace

std::span<const Deviation> declared_deviations() {
  static const std::vector<Deviation> table{subnormal_tiles("linear"),
                                            subnormal_tiles("batched_matmul")};
  return table;
}

}  // namespace assay
