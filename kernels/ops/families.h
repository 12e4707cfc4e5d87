#pragma once

#include "kernels/ops/row.h"

// Families of ops that have parameters and tensors in common: what the rows of op_table.cpp are
// made of.
namespace assay {

Op elementwise(const OpRow& row, Operands operands, Passes passes);

/// y = f(x), or f(a, b), over all n elements; n may be 0 where f of nothing is defined.
enum class Least { none, one };
Op reduction(const OpRow& row, int inputs, Least least, Passes passes);
/// Sums of squares.
Op norm_op(const OpRow& row, Passes passes);
/// Reductions to the index of an element.
Op index_reduction(const OpRow& row, Passes passes);
/// n elements to n elements, each of which depends on many (scan, sort).
Op whole_array(const OpRow& row, Passes passes);
/// Each of `rows` rows of `cols` elements by itself; perhaps `ld` apart.
Op rowwise(const OpRow& row, Passes passes);
/// The same with a weight and a bias for each column.
Op rowwise_affine(const OpRow& row, Passes passes);

// Families of one.
Op cast_op(const OpRow& row);
Op random_op(const OpRow& row);
Op transpose_op(const OpRow& row);
Op gather_op(const OpRow& row);
Op batched_matmul_op(const OpRow& row);
Op linear_op(const OpRow& row);
Op linear_stack_op(const OpRow& row);
Op memcpy_op(const OpRow& row);
Op memcpy_2d_op(const OpRow& row);
Op device_memcpy_op(const OpRow& row);
Op peer_memcpy_op(const OpRow& row);
/// All of a memory read or written once, with as little else as can be.
Op stream_op(const OpRow& row, Streams streams, Passes passes);
Op allreduce_op(const OpRow& row);

}  // namespace assay
