#pragma once

#include <memory>

#include "kernels/sim/launch.h"

namespace assay::sim {

/// Returns true for a product in a format that the CPU does not multiply: tf32, e4m3, bf16x9,
/// block-scaled.
bool is_narrow_matmul(const OpInstance& op);

/// Bits of an f32 that tf32 uses: its significand rounded to 11 bits, to nearest even.
float to_tf32(float x);

/// Makes a kernel of such a product: factors in the format, multiplied by the CPU in f32. The
/// result of a layer is rounded once. `prepare` makes CPU kernels.
std::unique_ptr<Kernel> narrow_matmul(const OpInstance& op, const Binding& binding,
                                      const Launch::Prepare& prepare);

}  // namespace assay::sim
