#pragma once

#include <vector>

#include "kernels/ops/row.h"

// Dense layers, for the ops that consist of them.
namespace assay {

/// Parameters batch, in, out, bias, act.
std::vector<Parameter> linear_parameters();
Signature linear_signature(Format format, const Params& params);
Passes linear_passes(Format format, const Params& params);

/// Parameters batch, in, width, layers, bias, act.
std::vector<Parameter> stack_parameters();
/// Layer 1 maps `in` to `width`, the others `width` to `width`. Inputs: x, then the weights and the
/// bias of each layer.
Signature stack_signature(Format format, const Params& params);
Passes stack_passes(Format format, const Params& params);

}  // namespace assay
