#pragma once

#include "kernels/ops/op.h"

// The tensors and the work of each family of ops, from dtype and parameters. Those that cannot be
// together are refused with NotApplicable.
namespace assay {

using SignatureOf = Signature (*)(DType, const Params&);

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

/// To one element, of one tensor or of the products of two.
SignatureOf reduction_signature(int inputs);
Signature norm_signature(DType dtype, const Params& params);
Signature index_signature(DType dtype, const Params& params);
/// n elements to n elements.
Signature array_signature(DType dtype, const Params& params);

/// Affine: with a weight and a bias for each column.
SignatureOf rowwise_signature(bool is_affine);

/// Streams through memory: n elements.
enum class Streams {
  read,   // one tensor, to one element
  write,  // a scalar, to one tensor
  copy,
  triad,  // two tensors and a scalar, to one tensor
};
SignatureOf stream_signature(Streams streams);

Signature cast_signature(DType dtype, const Params& params);
Signature random_signature(DType dtype, const Params& params);
Signature transpose_signature(DType dtype, const Params& params);
Signature gather_signature(DType dtype, const Params& params);
Signature batched_matmul_signature(DType dtype, const Params& params);
Signature linear_signature(DType dtype, const Params& params);
Signature linear_stack_signature(DType dtype, const Params& params);
Signature memcpy_signature(DType dtype, const Params& params);
Signature memcpy_2d_signature(DType dtype, const Params& params);
/// Between the memories of a host and of a device of it, or within a device's.
Signature device_memcpy_signature(DType dtype, const Params& params);
/// From one device to another.
Signature peer_memcpy_signature(DType dtype, const Params& params);
Signature allreduce_signature(DType dtype, const Params& params);

}  // namespace assay
