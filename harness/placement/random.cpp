#include "harness/placement/random.h"

#include "harness/placement/apply.h"

namespace assay::placement {
namespace {

/// Step between the seeds of consecutive tensors: an odd step passes through all seeds of the op.
constexpr std::uint64_t seed_step = 0x9e3779b97f5;
constexpr std::uint64_t seeds = std::uint64_t{1} << 44;

}  // namespace

void manual_seed(Place& place, std::uint64_t seed) { place.generator() = {.seed = seed}; }

void manual_seed_all(std::span<Place* const> places, std::uint64_t seed) {
  for (Place* place : places) manual_seed(*place, seed);
}

Tensor random(Place& place, DType dtype, std::int64_t n) {
  Place::Generator& generator = place.generator();
  Params params;
  params.set("n", n);
  params.set("seed",
             static_cast<std::int64_t>((generator.seed + generator.drawn * seed_step) % seeds));
  ++generator.drawn;
  return apply_on(place, instantiate(*find_op("random"), dtype, params));
}

}  // namespace assay::placement
