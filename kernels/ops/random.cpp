#include "kernels/ops/random.h"

#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"

namespace assay {

Parameter generator_seed() { return limited("seed", 0, (std::int64_t{1} << 44) - 1); }

Signature random_signature(DType dtype, const Params& params) {
  const TensorSpec tensor{.dtype = dtype, .shape = {params.integer("n")}};
  // Ten rounds of two multiplications and four exclusive ors produce 16 bytes.
  return with_work({.outputs = {tensor}}, 60.0 * static_cast<double>(tensor.bytes()) / 16);
}

std::vector<Op> random_ops() {
  return {make_op(
      {"random", "y[i] from Philox 4x32-10: floats in [0, 1), integers of all bits", numbers()},
      {size("n"), generator_seed()}, random_signature, no_inputs())};
}

}  // namespace assay
