#pragma once

#include <vector>

#include "suites/suite.h"

// Cases of the ops that lay pieces of tensors out anew: concat, slice, pad, flip, repeat.
namespace assay {

/// Grids of every dtype on error-prone shapes, among them these of (outer, n, inner).
std::vector<Grid> checked_pieces(const Axis& equal_extents, const Axis& beyond_16_bits);
/// Grids of shapes that fill a machine.
std::vector<Grid> timed_pieces();

}  // namespace assay
