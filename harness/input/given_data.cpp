#include "harness/input/given_data.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/input/distributions.h"

namespace assay::input {
namespace {

/// The inputs that were drawn last: a launch asks for them one by one.
struct Drawn {
  std::string op;
  std::uint64_t seed = 0;
  std::vector<HostTensor> inputs;
};

DrawGiven& draw() {
  static DrawGiven current;
  return current;
}

}  // namespace

void draw_given_with(DrawGiven draw_now) { draw() = std::move(draw_now); }

void fill_given(const OpInstance& op, const TensorKey& key, HostTensor& tensor) {
  static std::mutex one_at_a_time;
  static Drawn last;
  const std::scoped_lock lock(one_at_a_time);
  const std::uint64_t launch =
      static_cast<std::uint64_t>(key.pass) << 16U | static_cast<std::uint64_t>(key.rank);
  const std::uint64_t seed = mix(key.seed ^ mix(launch));
  if (last.inputs.empty() || last.op != op.op->name || last.seed != seed) {
    if (!draw()) throw std::logic_error("no process draws the inputs of defined ops");
    last.inputs.clear();
    last.inputs = draw()(op, seed);
    last.op = op.op->name;
    last.seed = seed;
  }
  const HostTensor& drawn = last.inputs.at(static_cast<std::size_t>(key.input));
  std::ranges::copy(drawn.bytes(), tensor.bytes().begin());
}

}  // namespace assay::input
