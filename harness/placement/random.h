#pragma once

#include <cstdint>

#include "harness/placement/tensor.h"

namespace assay::placement {

/// Seeds the generator of one device; those of others go on as they were.
void manual_seed(Place& place, std::uint64_t seed);
/// Seeds those of all: each then gives the same numbers.
void manual_seed_all(std::span<Place* const> places, std::uint64_t seed);

/// n elements of the device's generator, made there: floats in [0, 1), integers of all bits. The
/// first ones after a seed are those of the op `random` with it.
Tensor random(Place& place, DType dtype, std::int64_t n);

}  // namespace assay::placement
