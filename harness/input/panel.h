#pragma once

#include "kernels/ops/op.h"

namespace assay::input {

/// Periods of the data of large ops. A product x W^T needs no O(M N K) reference then: the rows of
/// x repeat with period P, those of W (and the elements of a bias) with period Q. K stays fully
/// random, and P x Q outputs determine all M x N. One pair of periods would miss a tile that is
/// moved by a multiple of them. So the two passes of an op use different primes (P, Q) and (P', Q')
/// with P P' > M and Q Q' > N: by the Chinese remainder theorem no misplacement hides in both. If
/// one side has few rows, the other has a longer period, for hundreds of different outputs. Nothing
/// repeats if M <= P, or in a pass that is judged as a whole (Oracle::freivalds).
///
/// Rows of a user's op that stand alone (Op::independent_rows) repeat likewise in all inputs that
/// have them: its reference is run many times. Periods are shorter, as rows may be long.
Panel panel(const OpInstance& op, int pass);

/// Number of rows of input `input` that are drawn before they repeat; 0: all.
std::int64_t rows_before_repeat(const OpInstance& op, int pass, int input);

}  // namespace assay::input
