#pragma once

#include "kernels/ops/row.h"

namespace assay {

/// Elementwise ops take n elements in one row, or rows of `cols` of them, `ld` apart.
enum class Operands {
  one,
  copied,  // one, and the output is the same
  two,
  three,
  compared,     // two, and the output is a mask of u8
  masked,       // a mask of u8 and two
  with_scalar,  // one, and a scalar
  scalar,       // a scalar alone
};
SignatureOf elementwise_signature(Operands operands);

/// {n}, or {n / cols, cols} with rows `ld` apart. Throws NotApplicable for extents that do not go
/// together.
TensorSpec elementwise_tensor(DType dtype, const Params& params);

Op elementwise(const OpRow& row, Operands operands, Passes passes);

}  // namespace assay
