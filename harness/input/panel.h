#pragma once

#include "kernels/ops/op.h"

namespace assay::input {

/// Periods of the data of large ops. A product needs no O(M N K) reference then: the lines of input
/// 0 (Signature::is_product), rows of x in x W^T, repeat with period P, those of input 1 (and the
/// elements of a bias) with period Q. K stays fully random, and P x Q outputs determine all M x N.
/// One pair of periods would miss a tile that is moved by a multiple of them. So the two passes of
/// an op use different primes (P, Q) and (P', Q') with P P' > M and Q Q' > N: by the Chinese
/// remainder theorem no misplacement hides in both. If one side has few rows, the other has a
/// longer period, for hundreds of different outputs. Nothing repeats if M <= P, or in a pass that
/// is judged as a whole (Oracle::freivalds).
///
/// Rows of a user's op that stand alone (Op::independent_rows) repeat likewise in all inputs that
/// have them: its reference is run many times. Periods are shorter, as rows may be long. So do
/// rows of other ops that stand alone, softmax's and layernorm's, in all passes but the last.
Panel panel(const OpInstance& op, int pass);

/// True if the panel of an op is of rows that stand alone: equal rows have equal results.
bool repeats_rows_apart(const OpInstance& op, const Panel& panel);

/// Number of rows of input `input` that are drawn before they repeat; 0: all. Of factors whose
/// terms lie along another extent than the last one: number of lines.
std::int64_t rows_before_repeat(const OpInstance& op, int pass, int input);

/// Number of rows, or of such lines, that a tensor has.
std::int64_t repeatable_rows(const TensorSpec& spec);

}  // namespace assay::input
