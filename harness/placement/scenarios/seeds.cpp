#include <fmt/format.h>

#include "harness/placement/random.h"
#include "harness/placement/scenarios/families.h"

namespace assay::placement {
namespace {

/// Fewest elements to compare; fewer may be equal by chance.
constexpr std::int64_t telling_elements = 16;

/// Seeding again gives the same numbers; continuing or another seed gives others.
void manual_seed_one(Stage& stage) {
  Place& place = stage.place();
  const DType dtype = stage.op.dtype();
  const std::int64_t n = stage.op.params.integer("n");
  const auto seed = static_cast<std::uint64_t>(stage.op.params.integer("seed"));
  manual_seed(place, seed);
  const Tensor first = random(place, dtype, n);
  const Tensor second = random(place, dtype, n);
  manual_seed(place, seed + 1);
  const Tensor other = random(place, dtype, n);
  manual_seed(place, seed);
  const Tensor again = random(place, dtype, n);
  expect(again.read() == first.read(), "the same seed gave other numbers");
  if (n >= telling_elements) {
    expect(second.read() != first.read(), "a generator repeats itself");
    expect(other.read() != first.read(), "another seed gave the same numbers");
  }
  stage.output().copy_from(again);
}

/// Devices seeded at once give the same numbers; seeding one does not affect others.
void manual_seed_every(Stage& stage) {
  const DType dtype = stage.op.dtype();
  const std::int64_t n = stage.op.params.integer("n");
  const auto seed = static_cast<std::uint64_t>(stage.op.params.integer("seed"));
  manual_seed_all(stage.places, seed);
  std::vector<Tensor> numbers;
  for (Place* place : stage.places) numbers.push_back(random(*place, dtype, n));
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    expect(numbers[i].read() == numbers[0].read(),
           fmt::format("seeded alike, {} and {} give different numbers", stage.places[0]->text(),
                       stage.places[i]->text()));
  }
  manual_seed(*stage.places.front(), seed);
  const Tensor again = random(*stage.places.front(), dtype, n);
  const Tensor onward = random(*stage.places.back(), dtype, n);
  expect(again.read() == numbers.front().read(), "the same seed gave other numbers");
  if (n >= telling_elements) {
    expect(onward.read() != numbers.back().read(), "to seed one device seeded another");
  }
  stage.output().copy_from(numbers.back());
}

}  // namespace

std::span<const ScenarioRow> seed_scenarios() {
  static constexpr ScenarioRow rows[] = {
      {"manual_seed", manual_seed_one},
      {"manual_seed_all", manual_seed_every},
  };
  return rows;
}

}  // namespace assay::placement
