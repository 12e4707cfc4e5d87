#pragma once

#include "kernels/ops/op.h"

namespace assay::input {

/// A large product x W^T needs no O(M N K) reference: the rows of x repeat with period P, those of
/// W (and the elements of a bias) with period Q, K stays fully random, and P x Q outputs tell all
/// M x N. One pair of periods alone misses a tile that is moved by a multiple of them, so the two
/// passes of an op use different primes (P, Q) and (P', Q') with P P' > M and Q Q' > N: by the
/// Chinese remainder theorem no misplacement hides in both. Where one side has few rows, the other
/// has a longer period, so that there are hundreds of different outputs. Where M <= P, and in a
/// pass that is judged as a whole (Oracle::freivalds), nothing repeats.
Panel panel(const OpInstance& op, int pass);

/// How many rows of input `input` are drawn before they repeat; 0: all.
std::int64_t rows_before_repeat(const OpInstance& op, int pass, int input);

}  // namespace assay::input
