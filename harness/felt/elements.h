#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/tensor_spec.h"

namespace assay::felt {

/// `count` elements drawn by a seed, which may be equal.
std::vector<std::int64_t> drawn_elements(const TensorSpec& spec, int count, std::uint64_t seed);

}  // namespace assay::felt
