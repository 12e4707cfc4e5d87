#pragma once

#include <cstdint>

#include "harness/input/tensor_key.h"
#include "kernels/ops/op.h"

// Powers of two that scale the data of sums. They change no significand, so what is exact stays so,
// and nothing about a number's size tells exact data from real ones.
namespace assay::input {

/// Exponent of the power of two by which a launch scales input `key.input`, drawn from seed and
/// pass. The two factors of a product have opposite ones: its sum, a bias and what an activation
/// makes of them keep their size. Other inputs have the same one, or none: integers, block-scaled
/// formats and e4m3, weights within a stack. In f16 sums are never scaled up, or they might
/// overflow.
int drawn_exponent(const OpInstance& op, const TensorKey& key);

/// Number of consecutive elements of an input of exact data that have a further power of two of
/// their own: a row of x, or of W in x W^T, whose products share it. 0: there are none. An
/// activation that needs sums of some size leaves no choice, nor does a bias unless it is small
/// beside products of the largest integers, and `Oracle::freivalds` sums whole columns of y.
std::int64_t own_scale_elements(const OpInstance& op, const Pass& pass, int input);

/// Exponent of run `run` of so many elements: -3 to 0, so that none overflows.
int own_exponent(const TensorKey& key, std::int64_t run);

}  // namespace assay::input
