#pragma once

#include <vector>

#include "kernels/ops/row.h"

namespace assay {

/// Operands of an elementwise op: n elements in one row, or rows of `cols` elements, `ld` apart.
enum class Operands {
  one,
  copied,  // one; the output equals the input
  two,
  three,
  compared,     // two; the output is a u8 mask
  tested,       // one; the output is a u8 mask
  masked,       // a u8 mask and two
  with_scalar,  // one, and a scalar
  clamped,      // one, and two scalars
  scalar,       // a scalar alone
};
SignatureOf elementwise_signature(Operands operands);
std::vector<Parameter> elementwise_parameters();

/// Returns {n}, or {n / cols, cols} with rows `ld` apart. Throws NotApplicable for extents that do
/// not fit together.
TensorSpec elementwise_tensor(DType dtype, const Params& params);

Op elementwise(const OpRow& row, Operands operands, Passes passes);
/// The family of kernels/ops/elementwise.cpp.
std::vector<Op> elementwise_ops();

}  // namespace assay
