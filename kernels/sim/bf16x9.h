#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "kernels/sim/launch.h"

namespace assay::sim {

/// Splits a finite x into three bf16 numbers of 8 bits each, cut towards zero so that none
/// overflows. Their sum is x, less the bits below 2^-133, the smallest bf16 number. Henry, Tang,
/// Heinecke: "Leveraging the bfloat16 artificial intelligence datatype for higher-precision
/// computations", ARITH 2019, which rounds instead.
std::array<float, 3> bf16_parts(float x);

/// Parts of x and of w, by their numbers, in each product. A format takes as many as its row of
/// product_format.cpp says.
using Order = std::array<std::size_t, 9>;
inline constexpr Order parts_of_x{0, 0, 0, 1, 1, 1, 2, 2, 2};
inline constexpr Order parts_of_w{0, 1, 2, 0, 1, 2, 0, 1, 2};

/// Makes a kernel of `linear` in bf16x9: one CPU product in f32 over the nine products of parts of
/// each pair of factors. With a NaN or an infinity among the factors, whose parts would be NaN too,
/// it is the CPU's product of the factors themselves.
std::unique_ptr<Kernel> bf16x9_matmul(const OpInstance& op, const Binding& binding,
                                      const Launch::Prepare& prepare);

}  // namespace assay::sim
