#pragma once

#include <memory>

#include "kernels/sim/launch.h"

namespace assay::sim {

/// Whether the op is a product in a format that the CPU does not multiply: tf32, e4m3.
bool is_narrow_matmul(const OpInstance& op);

/// The bits of an f32 that tf32 uses: its significand rounded to 11 bits, to nearest even.
float to_tf32(float x);

/// Such a product: factors as the format has them, multiplied by the CPU in f32, and what a layer
/// gives rounded once. `prepare` makes kernels of the CPU.
std::unique_ptr<Kernel> narrow_matmul(const OpInstance& op, const Binding& binding,
                                      const Launch::Prepare& prepare);

}  // namespace assay::sim
