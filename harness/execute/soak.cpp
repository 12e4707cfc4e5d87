#include "harness/execute/soak.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "harness/execute/verify_launch.h"
#include "kernels/core/clock.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

/// Copies of a chain. Odd: one that goes forth and back ends where it first arrives. Comparing
/// takes as long as one of them.
constexpr std::size_t chain_copies = 17;
/// Wrong elements of an interval whose bits are kept.
constexpr std::int64_t max_kept = 4;
constexpr double condition_step_s = 1;

constexpr Trial::Fill soak_fill{
    .poison = std::byte{0xa5}, .input_guard = std::byte{0x96}, .output_guard = std::byte{0x69}};

std::string hex(std::span<const std::byte> little_endian) {
  std::string text = "0x";
  for (auto byte = little_endian.rbegin(); byte != little_endian.rend(); ++byte) {
    text += fmt::format("{:02x}", static_cast<unsigned>(*byte));
  }
  return text;
}

/// The copy in the other direction; the op itself where both ends are of one memory.
OpInstance way_back(const OpInstance& op) {
  if (op.signature.inputs[0].memory == op.signature.outputs[0].memory) return op;
  Params params = op.params;
  params.set("from", op.params.word("to"));
  params.set("to", op.params.word("from"));
  return instantiate(*op.op, op.format, params);
}

template <class T, class Choose>
void keep(std::optional<T>& kept, const std::optional<T>& now, Choose choose) {
  if (now) kept = kept ? choose(*kept, *now) : *now;
}

std::optional<std::int64_t> increase(const std::optional<std::int64_t>& before,
                                     const std::optional<std::int64_t>& after) {
  if (!before || !after) return std::nullopt;
  return *after - *before;
}

}  // namespace

double multiply_adds(const OpInstance& op) {
  if (op.signature.factors_per_term != 2) return 0;
  return static_cast<double>(output_elements(op.signature)) *
         static_cast<double>(op.signature.terms);
}

bool can_soak(const OpInstance& op) {
  const Signature& s = op.signature;
  const bool on_one = !op.op->collective && !op.op->multi_device && s.ranks == 1 && s.devices == 1;
  return on_one && !s.in_place && !s.outputs.empty() && s.outputs[0].elements() > 0 &&
         ((s.is_copy && s.inputs[0].bytes() == s.outputs[0].bytes()) || multiply_adds(op) > 0);
}

Soak::Soak(std::unique_ptr<Trial> trial, Device& device, SoakContents contents)
    : trial_(std::move(trial)),
      device_(device),
      contents_(std::move(contents)),
      stream_(device.create_stream()) {
  const OpInstance& op = trial_->op();
  if (op.signature.is_copy) {
    prepare_chain();
  } else {
    result_ = &trial_->tensors().output(0);
    for (std::size_t turn = 0; turn < rounds_.size(); ++turn) {
      Binding binding = trial_->tensors(turn).binding(0);
      binding.stream = stream_.get();
      binding.outputs = trial_->tensors().binding(0).outputs;  // each overwrites the other's
      rounds_[turn].kernels.push_back(device.prepare(op, binding));
    }
  }
  for (Round& round : rounds_) {
    round.right = std::make_unique<input::GuardedTensor>(device, result_->spec());
    round.right->set_guards(soak_fill.output_guard);
    round.comparer = BitComparer::make(device, *stream_, *result_, *round.right);
  }
  trial_->arm(soak_fill);
  restore();
}

void Soak::prepare_chain() {
  const OpInstance& op = trial_->op();
  const OpInstance back = way_back(op);
  const auto way = [&](std::size_t copy) -> const OpInstance& { return copy % 2 == 0 ? op : back; };
  chain_.reserve(chain_copies);
  for (std::size_t copy = 0; copy < chain_copies; ++copy) {
    chain_.emplace_back(device_, way(copy).signature.outputs[0]);
    chain_.back().set_guards(soak_fill.output_guard);
    chain_.back().poison(soak_fill.poison);
  }
  result_ = &chain_.back();
  for (std::size_t turn = 0; turn < rounds_.size(); ++turn) {
    const void* from = trial_->tensors(turn).binding(0).inputs[0];
    for (std::size_t copy = 0; copy < chain_copies; ++copy) {
      void* to = chain_[copy].data();
      rounds_[turn].kernels.push_back(device_.prepare(way(copy), {stream_.get(), {from}, {to}}));
      from = to;
    }
  }
}

/// Uploads all that launches read and are compared with: a wrong bit there would be found again in
/// each further launch.
void Soak::restore() {
  for (std::size_t turn = 0; turn < rounds_.size(); ++turn) {
    trial_->tensors(turn).upload(contents_.inputs[turn]);
    rounds_[turn].right->upload(contents_.right[turn]);
  }
}

bool Soak::is_right(std::size_t turn) {
  if (rounds_[turn].comparer) return rounds_[turn].comparer->equal();
  return !result_->first_difference(contents_.right[turn]);
}

void Soak::count_wrong(std::size_t turn, SoakWork& work) {
  const HostTensor& right = contents_.right[turn];
  HostTensor now(right.spec());
  result_->download(now);
  const std::size_t width = size_bytes(right.spec().dtype);
  const auto note = [&](const std::string& text) {
    work.first_wrong += (work.first_wrong.empty() ? "" : "; ") + text;
  };
  const bool is_first = work.wrong_comparisons++ == 0;
  std::int64_t wrong = 0;
  for (std::size_t at = 0; at < right.bytes().size(); at += width) {
    const auto expected = right.bytes().subspan(at, width);
    const auto actual = std::as_const(now).bytes().subspan(at, width);
    if (std::memcmp(expected.data(), actual.data(), width) == 0) continue;
    if (work.wrong_elements + wrong++ >= max_kept) continue;
    note(fmt::format("launch {} [{}] expected {} actual {}", work.launches, at / width,
                     hex(expected), hex(actual)));
  }
  if (wrong == 0) {
    wrong = 1;  // something of the device was wrong
    if (is_first) note("the device's comparison found a difference that the host does not find");
  }
  work.wrong_elements += wrong;
  for (std::size_t i = 0; i < contents_.inputs.size() && is_first; ++i) {
    if (const auto text = trial_->tensors(i).changed_input(contents_.inputs[i])) note(*text);
  }
  restore();
}

/// Throws if the device's comparison is blind: to a wrong bit that the host sees in the last
/// output, or to one that is flipped for it.
void Soak::check_comparison(std::size_t turn, bool was_right, SoakWork& work) {
  if (!rounds_[turn].comparer) return;
  const HostTensor& right = contents_.right[turn];
  const auto refuse = [](const std::string& what) {
    throw WrongResult{Check::soak, "soak", "the device's own comparison did not see " + what};
  };
  if (!is_right(turn)) {
    if (was_right) count_wrong(turn, work);  // or else it is counted
    return;
  }
  if (const auto element = result_->first_difference(right)) {
    refuse(fmt::format("a wrong bit at [{}]", *element));
  }
  constexpr std::int64_t stride = 1000003;  // another place in each interval
  const std::size_t at =
      static_cast<std::size_t>(checked_ * stride) % std::as_const(right).bytes().size();
  const std::byte byte = right.bytes()[at];
  const std::byte flipped = byte ^ std::byte{1};
  rounds_[turn].right->replace(at, std::span(&flipped, 1));
  const bool is_blind = is_right(turn);
  rounds_[turn].right->replace(at, std::span(&byte, 1));
  if (is_blind) refuse(fmt::format("the bit that was flipped in byte {}", at));
}

void Soak::check_around(const Checks& checks) {
  check_surroundings(*trial_, contents_.inputs, checks, "soak");
  for (const input::GuardedTensor& tensor : chain_) {
    if (const auto damage = tensor.damage(); damage && checks.on(Check::guard_bands)) {
      throw WrongResult{Check::guard_bands, "soak", "soak: chain: " + *damage, true};
    }
  }
}

void Soak::read_condition(SoakWork& work) const {
  const DeviceCondition now = device_.condition();
  const auto higher = [](double a, double b) { return std::max(a, b); };
  keep(work.clock_hz, now.clock_hz, [](double a, double b) { return std::min(a, b); });
  keep(work.temperature_c, now.temperature_c, higher);
  keep(work.power_w, now.power_w, higher);
  keep(work.throttled, now.throttled, [](bool a, bool b) { return a || b; });
}

void Soak::run(double seconds, const Checks& checks, SoakWork& work) {
  const OpInstance& op = trial_->op();
  const double begin_s = steady_s();
  const DeviceErrors before = device_.errors();
  double condition_s = begin_s;
  double now_s = begin_s;
  bool was_right = true;
  do {
    turn_ = (turn_ + 1) % rounds_.size();
    const Round& round = rounds_[turn_];
    const double launch_s = steady_s();
    for (const auto& kernel : round.kernels) kernel->launch();
    if (now_s >= condition_s) {  // while it works
      read_condition(work);
      condition_s = now_s + condition_step_s;
    }
    stream_->synchronize();
    work.launch_s += steady_s() - launch_s;
    const auto launches = std::ssize(round.kernels);
    work.launches += launches;
    was_right = is_right(turn_);
    if (!was_right) count_wrong(turn_, work);
    work.products += static_cast<double>(launches) * multiply_adds(op);
    if (op.signature.is_copy) {
      work.copied_bytes +=
          static_cast<double>(launches) * static_cast<double>(op.signature.outputs[0].bytes());
    }
    now_s = steady_s();
    work.wall_s = now_s - begin_s;
  } while (now_s - begin_s < seconds);
  const DeviceErrors after = device_.errors();
  work.ecc_corrected = increase(before.ecc_corrected, after.ecc_corrected);
  work.ecc_uncorrected = increase(before.ecc_uncorrected, after.ecc_uncorrected);
  work.nvlink_errors = increase(before.nvlink, after.nvlink);
  work.xid_errors = increase(before.xid, after.xid);
  if (work.xid_errors.value_or(0) > 0) work.last_xid = after.last_xid;
  try {
    check_comparison(turn_, was_right, work);
    check_around(checks);
  } catch (const WrongResult&) {
    work.products = work.copied_bytes = 0;
    throw;
  }
  ++checked_;
  work.wall_s = steady_s() - begin_s;
}

}  // namespace assay
