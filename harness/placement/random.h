#pragma once

#include <cstdint>

#include "harness/placement/tensor.h"

namespace assay::placement {

/// Seeds the generator of one device; other generators continue.
void manual_seed(Place& place, std::uint64_t seed);
/// Seeds the generators of all places: each then gives the same numbers.
void manual_seed_all(std::span<Place* const> places, std::uint64_t seed);

/// n elements of the device's generator, made there: floats in [0, 1), integers of all bits. The
/// first tensor after seeding equals the op `random` with that seed.
Tensor random(Place& place, DType dtype, std::int64_t n);

}  // namespace assay::placement
