#pragma once

#include <cstddef>
#include <span>

#include "harness/oracle/verdict.h"
#include "kernels/reference/reference.h"

namespace assay::oracle {

/// Judges a product y = x W^T + b of exact integers, or of such times one power of two in x and one
/// in W, without computing it, wherever the lines of x and W lie (Signature::is_product): each row
/// of y must satisfy y r = x (W^T r) + b r for random weights r, in O(MN + NK + MK) operations
/// instead of O(MNK), and with no structure in the data that a misplaced tile could hide behind.
///
/// R. Freivalds: "Probabilistic machines can use less running time", IFIP Congress 1977. With
/// weights uniform in [1, 2^16] a wrong row passes with a probability of at most 2^-16: given all
/// other weights, at most one value of the weight of one wrong element makes the sums equal. Sums
/// are taken modulo 2^64, which changes nothing while errors stay below 2^48.
///
/// Then computes at most 16 of the rows that do not agree, to find the wrong elements. Each further
/// row counts as one wrong element, the least it can have. An output that is no multiple of the
/// product of those powers is wrong. Throws std::logic_error if an input is none of its own.
Verdict freivalds(const reference::Problem& problem, std::span<const std::byte> actual);

}  // namespace assay::oracle
