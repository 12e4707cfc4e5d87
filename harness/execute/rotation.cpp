#include "harness/execute/rotation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/execute/memory.h"
#include "harness/input/distributions.h"
#include "harness/input/drawn_scale.h"
#include "harness/input/generate.h"
#include "harness/input/panel.h"
#include "harness/oracle/tolerance.h"
#include "kernels/core/clock.h"

namespace assay {
namespace {

/// Two would alternate: a device that compares a launch with the last two would notice.
constexpr double min_sets = 3;
/// Limit for small tensors, of which thousands fit into a cache.
constexpr double max_sets = 64;
/// Share of the free memory that further sets may take.
constexpr double share_of_memory = 0.5;
/// Length of a run that changes, in elements.
constexpr std::int64_t changed_run_elements = 16;
/// Elements of a tensor for each run that changes.
constexpr std::int64_t elements_per_changed_run = 2048;
constexpr std::int64_t max_changed_runs = 1024;
/// Operations for each element of the tensors, from which on the work takes much longer than
/// reading them: softmax has 2.5, a sum of two tensors a third.
constexpr double much_work = 2.5;
/// Share of the samples' time that drawing inputs may take where new ones are no must.
constexpr double draw_share = 0.05;
/// One in so many contents that are drawn has exact data.
constexpr std::int64_t exact_one_in = 8;
/// One in so many changes of a shared content draws it anew.
constexpr std::int64_t drawn_one_in = 4;

/// True if inputs must be new as a whole, by the op's own work. So must those of a function that a
/// library declares an error of, which takes dozens of operations, of a sort or a scan, whose
/// outputs each depend on all inputs, and of an op of which nothing is known but its reference.
bool needs_whole_inputs(const OpInstance& op) {
  const Signature& s = op.signature;
  double elements = 0;
  std::int64_t max_inputs = 0;
  for (const TensorSpec& spec : s.inputs) {
    elements += static_cast<double>(spec.elements());
    max_inputs = std::max(max_inputs, spec.elements());
  }
  const std::int64_t outputs = s.outputs[0].elements();
  elements += static_cast<double>(outputs);
  const bool mixes_all = !op.op->collective && s.terms > 1 && s.terms == outputs;
  const Oracle oracle = passes(op).back().rule.oracle;
  const bool is_function = oracle == Oracle::function_bound || oracle == Oracle::measured_band;
  return mixes_all || is_function || s.flops >= much_work * elements;
}

/// True if one element may decide the result: few outputs of many inputs. An op of a user keeps to
/// the data that its definition allows.
bool is_reduction(const OpInstance& op) {
  constexpr std::int64_t few = 16;
  return passes(op).back().rule.oracle != Oracle::measured_band && op.signature.terms > few &&
         op.signature.outputs[0].elements() <= few && op.signature.ranks == 1 &&
         !op.signature.is_product;
}

/// Finds a pass of exact data that vary. The same number everywhere does not tell which elements
/// were read, and its time may not be that of other data, as where all sums overflow.
std::optional<int> exact_pass(const OpInstance& op, const Passes& passes, const MathMode& mode) {
  const auto is_exact = [&](const Pass& pass) {
    const bool varies = pass.data_of(0).distribution != Distribution::constant;
    return varies && !pass.has_specials() && oracle::tolerance(pass.rule, op, mode).exact;
  };
  if (passes.empty() || oracle::tolerance(passes.back().rule, op, mode).exact) return std::nullopt;
  const auto found = std::ranges::find_if(passes, is_exact);
  if (found == passes.end()) return std::nullopt;
  return static_cast<int>(found - passes.begin());
}

/// A number that no sum of `terms` others of about 1 hides, nor any extreme. Factors stay near 1.
template <class T>
T needle_of(std::int64_t terms, bool is_factor, std::uint64_t bits) {
  if constexpr (std::is_integral_v<T>) {
    const auto near_end = static_cast<T>(bits % 100);
    return (bits >> 32U & 1U) != 0 ? static_cast<T>(std::numeric_limits<T>::max() - near_end)
                                   : static_cast<T>(std::numeric_limits<T>::min() + near_end);
  } else {
    constexpr double max_power = sizeof(T) < 4 ? 9 : 60;
    const double power = std::ceil(0.75 * std::log2(static_cast<double>(terms)));
    const double significand = 1 + input::unit_interval(bits);
    const double magnitude =
        is_factor ? 1 + significand / 2
                  : std::ldexp(significand, static_cast<int>(std::min(power, max_power)));
    return input::round_to<T>(input::with_sign_of(bits >> 7U & 1U, magnitude));
  }
}

}  // namespace

Rotation::Rotation(Trial& trial, const OpInstance& op, std::uint64_t secret,
                   std::vector<RankInputs>& contents, bool has_own_inputs)
    : trial_(trial),
      op_(op),
      passes_(passes(op)),
      real_pass_(static_cast<int>(std::ssize(passes_)) - 1),
      exact_pass_(exact_pass(op, passes_, trial.math_mode())),
      has_own_inputs_(has_own_inputs && !op.signature.in_place),
      is_drawn_anew_(needs_whole_inputs(op)),
      contents_(contents),
      random_(secret),
      allowance_(draw_share, random_),
      next_is_drawn_(is_drawn_anew_),
      draw_s_(0.3e-9 * tensor_bytes(op)) {
  turns_ = {.of = trial.make_sets(wanted_sets())};
  if (has_own_inputs_) {
    while (contents_.size() < turns_.of) {
      auto& ranks = contents_.emplace_back(static_cast<std::size_t>(trial.ranks()));
      for (auto& tensors : ranks) {
        for (const TensorSpec& spec : op.signature.inputs) tensors.emplace_back(spec);
      }
    }
  }
  of_content_.assign(contents_.size(), {.pass = real_pass_});
  if (has_own_inputs_ && exact_pass_) {
    of_content_[static_cast<std::size_t>(below(std::ssize(contents_)))].pass = *exact_pass_;
  }
  // A shared content stays the verified one, unless rows repeat in it.
  const bool is_kept = !has_own_inputs_ && input::panel(op, real_pass_).rows == 0;
  for (std::size_t content = 0; content < contents_.size(); ++content) {
    if (!is_kept) draw(content);
  }
  if (!is_kept) return;
  for (std::size_t set = 1; set < turns_.of; ++set) trial.tensors(set).upload(content(set));
}

void Rotation::draw(std::size_t content) {
  const double begin_s = steady_s();
  ContentState& state = of_content_[content];
  const Pass& rules = passes_[static_cast<std::size_t>(state.pass)];
  const std::uint64_t seed = random_();
  RankInputs& ranks = contents_[content];
  for (int rank = 0; rank < std::ssize(ranks); ++rank) {
    auto& tensors = ranks[static_cast<std::size_t>(rank)];
    for (int i = 0; i < std::ssize(tensors); ++i) {
      const input::TensorKey key{
          .seed = seed, .pass = state.pass, .rank = rank, .input = i, .may_repeat = false};
      input::generate(op_, rules, key, tensors[static_cast<std::size_t>(i)]);
    }
  }
  state.changed.clear();
  state.needle.reset();
  for (std::size_t set = content; set < turns_.of; set += contents_.size()) {
    trial_.tensors(set).upload(ranks);
  }
  draw_s_ = steady_s() - begin_s;
}

std::size_t Rotation::wanted_sets() const {
  const Device& device = trial_.device();
  const double bytes = std::max(1.0, tensor_bytes(op_));
  double sets = min_sets;
  if (has_own_inputs_) {
    const auto cache_bytes = static_cast<double>(device.info().last_level_cache_bytes.value_or(0));
    sets = std::clamp(std::ceil(cache_bytes / bytes) + 1, min_sets, max_sets);
  }
  const auto limit_to = [&](double free_bytes, double set_bytes) {
    sets = std::min(sets, 1 + std::floor(share_of_memory * free_bytes / set_bytes));
  };
  if (device.is_host() || has_own_inputs_) {
    const double set_bytes = (device.is_host() ? bytes : 0) + (has_own_inputs_ ? bytes : 0);
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
  if (op_.signature.inputs.empty()) return turns_;
  if (has_own_inputs_) {
    for (const std::size_t set : turns_.sets()) refresh(set);
  } else if (allowance_.affords(next_is_drawn_ ? draw_s_ : change_s_)) {
    change_shared();
  }
  if (trial_.in_place()) trial_.tensors().restore(contents_.front());
  return turns_;
}

void Rotation::change_shared() {
  const double begin_s = steady_s();
  if (next_is_drawn_ || !may_copy_elements(0)) {
    take_any_pass(0);
    draw(0);
  } else {
    copy_elements(0);
    change_s_ = steady_s() - begin_s;
  }
  allowance_.spend(steady_s() - begin_s);
  next_is_drawn_ = is_drawn_anew_ || below(drawn_one_in) == 0;
}

void Rotation::refresh(std::size_t content) {
  if (is_drawn_anew_) {
    take_any_pass(content);
    draw(content);
  } else if (!may_copy_elements(content) || allowance_.affords(draw_s_)) {
    draw(content);
    allowance_.spend(draw_s_);
  } else {
    copy_elements(content);
  }
}

void Rotation::take_any_pass(std::size_t content) {
  const bool is_exact = exact_pass_ && below(exact_one_in) == 0;
  of_content_[content].pass = is_exact ? *exact_pass_ : real_pass_;
}

/// False where a few more factors other than 1 could overflow a product, where rows have scales of
/// their own, and where elements share memory.
bool Rotation::may_copy_elements(std::size_t content) const {
  const Pass& pass = passes_[static_cast<std::size_t>(of_content_[content].pass)];
  if (pass.data_of(0).distribution == Distribution::factors) return false;
  for (int i = 0; i < std::ssize(op_.signature.inputs); ++i) {
    const TensorSpec& spec = op_.signature.inputs[static_cast<std::size_t>(i)];
    if (input::own_scale_elements(op_, pass, i) > 0) return false;
    if (spec.repeats_elements()) return false;
  }
  return true;
}

void Rotation::overwrite(std::size_t content, int rank, int input, TensorSet::WrittenRuns runs) {
  for (std::size_t set = content; set < turns_.of; set += contents_.size()) {
    trial_.tensors(set).overwrite_input(rank, input, runs);
  }
}

/// Copies elements of each input to many other places in it: they stay within the op's domain.
void Rotation::copy_elements(std::size_t content) {
  ContentState& state = of_content_[content];
  state.changed.clear();
  RankInputs& ranks = contents_[content];
  const std::int64_t outputs = op_.signature.outputs[0].elements();
  for (int rank = 0; rank < std::ssize(ranks); ++rank) {
    auto& tensors = ranks[static_cast<std::size_t>(rank)];
    for (int i = 0; i < std::ssize(tensors); ++i) {
      HostTensor& tensor = tensors[static_cast<std::size_t>(i)];
      const TensorSpec& spec = tensor.spec();
      const std::int64_t elements = spec.elements();
      if (elements < 2) continue;
      const std::size_t width = size_bytes(spec.dtype);
      const ElementRuns to = draw_runs(
          elements,
          std::clamp(elements / elements_per_changed_run, std::int64_t{1}, max_changed_runs),
          std::min(changed_run_elements, (elements + 1) / 2), random_);
      const std::size_t run_bytes = static_cast<std::size_t>(to.length) * width;
      std::vector<input::GuardedTensor::Run<const std::byte>> runs;
      for (const std::int64_t first : to.first) {
        const auto at = static_cast<std::size_t>(first) * width;
        const auto from = static_cast<std::size_t>(below(elements - to.length + 1)) * width;
        std::memmove(&tensor.bytes()[at], &tensor.bytes()[from], run_bytes);
        if (elements == outputs) state.changed.push_back(first);
      }
      // Later copies may change earlier places: what they hold in the end counts.
      for (const std::int64_t first : to.first) {
        const auto at = static_cast<std::size_t>(first) * width;
        runs.push_back({at, std::as_const(tensor).bytes().subspan(at, run_bytes)});
      }
      overwrite(content, rank, i, runs);
    }
  }
  if (is_reduction(op_) && state.pass == real_pass_) move_needle(content);
}

void Rotation::move_needle(std::size_t content) {
  ContentState& state = of_content_[content];
  auto& tensors = contents_[content].front();
  const auto put = [&](int input, std::int64_t element, std::span<const std::byte> bytes) {
    HostTensor& tensor = tensors[static_cast<std::size_t>(input)];
    const auto at = static_cast<std::size_t>(element) * bytes.size();
    std::ranges::copy(bytes, tensor.bytes().subspan(at).begin());
    const input::GuardedTensor::Run<const std::byte> run{at, bytes};
    overwrite(content, 0, input, {&run, 1});
  };
  if (state.needle) put(state.needle->input, state.needle->element, state.needle->before);
  const auto input = static_cast<int>(below(std::ssize(tensors)));
  const HostTensor& tensor = tensors[static_cast<std::size_t>(input)];
  const std::int64_t element = below(tensor.spec().elements());
  const std::size_t width = size_bytes(tensor.spec().dtype);
  const auto old = tensor.bytes().subspan(static_cast<std::size_t>(element) * width, width);
  state.needle = Needle{input, element, {old.begin(), old.end()}};
  const Data& data = passes_.back().data_of(static_cast<std::size_t>(input));
  visit_dtype(tensor.spec().dtype, [&]<class T>(std::type_identity<T>) {
    const T value =
        needle_of<T>(op_.signature.terms, data.distribution == Distribution::near_one, random_());
    put(input, element, std::as_bytes(std::span(&value, 1)));
  });
}

}  // namespace assay
