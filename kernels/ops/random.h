#pragma once

#include "kernels/ops/row.h"

namespace assay {

/// "seed": of a generator of random numbers.
Parameter generator_seed();
/// n elements from nothing.
Signature random_signature(DType dtype, const Params& params);

}  // namespace assay
