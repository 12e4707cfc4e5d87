#pragma once

#include "kernels/ops/row.h"

namespace assay {

/// Parameter "seed" of a random number generator.
Parameter generator_seed();
/// Signature of n elements without inputs.
Signature random_signature(DType dtype, const Params& params);

}  // namespace assay
