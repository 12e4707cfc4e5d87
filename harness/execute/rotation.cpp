#include "harness/execute/rotation.h"

#include <algorithm>
#include <cmath>

#include "harness/execute/memory.h"
#include "harness/input/generate.h"
#include "harness/input/panel.h"

namespace assay {
namespace {

/// Two would alternate: a device that compares a launch with the last two would notice.
constexpr double fewest_sets = 3;
/// Limit for small tensors, of which thousands fit into a cache.
constexpr double most_sets = 64;
/// Share of the free memory that further sets may take.
constexpr double share_of_memory = 0.5;
/// Length of a part that changes, in elements.
constexpr std::int64_t part_elements = 16;

}  // namespace

Rotation::Rotation(Trial& trial, const OpInstance& op, std::uint64_t seed,
                   std::vector<RankInputs>& contents, bool fresh)
    : trial_(trial),
      op_(op),
      seed_(seed),
      pass_(static_cast<int>(std::ssize(passes(op))) - 1),
      fresh_(fresh && op.signature.ranks == 1 && !op.signature.in_place),
      contents_(contents),
      random_(seed) {
  turns_ = {.of = trial.make_sets(wanted_sets())};
  for (std::size_t set = 1; set < turns_.of; ++set) {
    if (fresh_) {
      auto& tensors = contents_.emplace_back(1).front();
      for (const TensorSpec& spec : op.signature.inputs) tensors.emplace_back(spec);
      draw(set, static_cast<int>(set));
    }
    trial.tensors(set).upload(content(set));
  }
}

/// The number of a rank, of which there is only one, makes data differ.
void Rotation::draw(std::size_t content, int key_rank) {
  const Pass rules = passes(op_).at(static_cast<std::size_t>(pass_));
  auto& tensors = contents_[content].front();
  for (int i = 0; i < std::ssize(tensors); ++i) {
    const input::TensorKey key{.seed = seed_, .pass = pass_, .rank = key_rank, .input = i};
    input::generate(op_, rules, key, tensors[static_cast<std::size_t>(i)]);
  }
}

void Rotation::fill_first(int pass) {
  pass_ = pass;
  draw(0, static_cast<int>(turns_.of));
  trial_.tensors(0).upload(contents_.front());
}

std::size_t Rotation::wanted_sets() const {
  const Device& device = trial_.device();
  const double bytes = std::max(1.0, tensor_bytes(op_));
  double sets = fewest_sets;
  if (fresh_) {
    const auto cache_bytes = static_cast<double>(device.info().last_level_cache_bytes.value_or(0));
    sets = std::clamp(std::ceil(cache_bytes / bytes) + 1, fewest_sets, most_sets);
  }
  const auto limit_to = [&](double free_bytes, double set_bytes) {
    sets = std::min(sets, 1 + std::floor(share_of_memory * free_bytes / set_bytes));
  };
  if (device.is_host() || fresh_) {
    const double set_bytes = (device.is_host() ? bytes : 0) + (fresh_ ? bytes : 0);
    if (const auto free = available_host_bytes()) limit_to(*free, set_bytes);
  }
  if (const std::int64_t free = device.free_memory_bytes(); free > 0) {
    limit_to(static_cast<double>(free), bytes);
  }
  return static_cast<std::size_t>(std::max(1.0, sets));
}

const Turns& Rotation::next(std::int64_t launches) {
  turns_.first = (turns_.first + static_cast<std::size_t>(turns_.launches)) % turns_.of;
  // Whole rounds begin with the first set, so that one graph serves all samples.
  if (launches % static_cast<std::int64_t>(turns_.of) == 0) turns_.first = 0;
  turns_.launches = launches;
  if (fresh_) {
    for (const std::size_t set : turns_.sets()) freshen(set);
  }
  return turns_;
}

/// Copies some elements of an input to another place in it: they stay within the op's domain. Rows
/// that repeat, repeat the change.
void Rotation::freshen(std::size_t set) {
  auto& tensors = contents_[set].front();
  if (tensors.empty()) return;
  const auto below = [&](std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_);
  };
  const auto input = static_cast<int>(below(std::ssize(tensors)));
  HostTensor& tensor = tensors[static_cast<std::size_t>(input)];
  const TensorSpec& spec = tensor.spec();
  if (spec.elements() < 2) return;
  const std::int64_t period = input::rows_before_repeat(op_, pass_, input);
  if (period > 0 && spec.shape.size() < 2) return;  // a bias: its elements repeat
  const std::int64_t row = spec.row_elements();
  const std::int64_t rows = spec.elements() / row;
  const std::int64_t distinct = period > 0 ? std::min(period, rows) : rows;
  const std::int64_t count = std::min(part_elements, row);
  const std::int64_t from = below(distinct) * row + below(row - count + 1);
  const std::int64_t to_row = below(distinct);
  const std::int64_t to_column = below(row - count + 1);
  const std::size_t width = size_bytes(spec.dtype);
  const auto bytes_at = [&](std::int64_t element) {
    return tensor.bytes().subspan(static_cast<std::size_t>(element) * width,
                                  static_cast<std::size_t>(count) * width);
  };
  const std::vector<std::byte> part(bytes_at(from).begin(), bytes_at(from).end());
  for (std::int64_t r = to_row; r < rows; r += distinct) {
    const std::int64_t to = r * row + to_column;
    std::ranges::copy(part, bytes_at(to).begin());
    trial_.tensors(set).replace(input, static_cast<std::size_t>(to) * width, part);
  }
}

}  // namespace assay
