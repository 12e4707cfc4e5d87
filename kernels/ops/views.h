#pragma once

#include <vector>

#include "kernels/ops/op.h"

// Views: tensors whose elements do not lie one behind the other, as transposing, slicing, padding
// and expanding leave them. Operands that lack an extent, which the op itself repeats, are in
// kernels/ops/broadcast.cpp.
namespace assay {

/// Gives each op the parameter `view`, which says how the elements of its tensors lie:
///   transposed        each input of two extents or more has its last two exchanged in memory
///   first_transposed  only the first of several such inputs has
///   last_transposed   only the last one
///   all_transposed    outputs too, and there are gaps between the rows in memory
///   stepped           of a larger tensor each input has every third column and every second row
///   every_second      every second column
///   padded            rows of inputs and of outputs lie apart, each tensor's at another distance
///   padded_output     those of outputs alone
///   part              the matrices of inputs lie apart, and their rows follow each other
///   expanded          each input is its first row, or matrix, over and over: a stride of 0
///   last_expanded     only the last of several such inputs
///   expanded_columns  each row of inputs is its first element, over and over
/// Data, references and rules are those of dense tensors.
std::vector<Op> with_views(std::vector<Op> ops);

/// True for an instance with such tensors.
bool has_view(const OpInstance& op);
/// Makes the same op of dense tensors.
OpInstance without_view(const OpInstance& op);

/// A copy of the elements of `from` to `to`, which differ in nothing but their strides.
OpInstance copy_between(const TensorSpec& from, const TensorSpec& to);

}  // namespace assay
