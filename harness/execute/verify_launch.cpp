#include "harness/execute/verify_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "harness/execute/part_of_problem.h"
#include "harness/input/first_difference.h"
#include "harness/input/generate.h"
#include "harness/input/panel.h"
#include "harness/oracle/compare.h"
#include "harness/oracle/freivalds.h"
#include "harness/oracle/vacuous.h"
#include "kernels/core/parallel.h"

namespace assay {
namespace {

/// The fills of passes, in turn. Any two poisons differ: an output that was never written cannot
/// look right in all passes. 0xff bytes are a NaN in every float type, so a value read from a guard
/// shows even when multiplied by zero.
constexpr std::array fills{
    Trial::Fill{
        .poison = std::byte{0xff}, .input_guard = std::byte{0x5c}, .output_guard = std::byte{0xa3}},
    Trial::Fill{
        .poison = std::byte{0x00}, .input_guard = std::byte{0xff}, .output_guard = std::byte{0x5c}},
    Trial::Fill{.poison = std::byte{0x3b},
                .input_guard = std::byte{0xff},
                .output_guard = std::byte{0x96}}};
const Trial::Fill& fill_of(int pass) {
  return fills.at(static_cast<std::size_t>(pass) % fills.size());
}
constexpr Trial::Fill timing_fill{
    .poison = std::byte{0xa5}, .input_guard = std::byte{0x96}, .output_guard = std::byte{0x69}};

using Bytes = std::span<const std::byte>;

/// An output of each rank for the host to read: in place, or downloaded to `kept`; empty for a rank
/// without one. The last pass needs the download (`keep`): later launches are compared with it.
/// `op` is that of the output (of_output).
std::vector<Bytes> outputs_of(const TensorSet& tensors, const OpInstance& op, bool keep,
                              std::vector<HostTensor>& kept) {
  const std::size_t output = op.signature.judged_output;
  std::vector<Bytes> outputs(static_cast<std::size_t>(op.signature.ranks));
  for (const int rank : output_ranks(op.signature)) {
    const input::GuardedTensor& from = tensors.output(rank, output);
    Bytes& bytes = outputs[static_cast<std::size_t>(rank)];
    if (const auto in_place = from.readable(); in_place && !keep) {
      bytes = *in_place;
      continue;
    }
    // `bytes` refers to those of a tensor, which do not move when the list grows.
    const std::size_t place = place_of(rank, output);
    while (kept.size() <= place) {
      const int owner = output > 0 ? rank : static_cast<int>(kept.size());
      kept.emplace_back(tensors_of(op.signature, owner).outputs[0]);
    }
    from.download(kept[place]);
    bytes = kept[place].bytes();
  }
  return outputs;
}

/// Calls `body` with the rank, the number and the verified content of each output.
template <class Body>
void each_output(const Trial& trial, const std::vector<HostTensor>& verified, const Body& body) {
  const Signature& signature = trial.op().signature;
  for (std::size_t output = 0; output < signature.outputs.size(); ++output) {
    for (const int rank : output_ranks(signature)) {
      body(rank, output, verified[place_of(rank, output)]);
    }
  }
}

/// Throws unless every rank holds the same bits as rank 0, for any tolerance.
void check_ranks_agree(const std::vector<Bytes>& outputs, DType dtype, const std::string& on) {
  for (std::size_t rank = 1; rank < outputs.size(); ++rank) {
    if (const auto byte = input::first_difference(outputs[0], outputs[rank])) {
      throw WrongResult{Check::agreement_of_ranks, on,
                        fmt::format("ranks disagree: rank {} differs from rank 0 at [{}]", rank,
                                    *byte / size_bytes(dtype))};
    }
  }
}

void check_process_state(const Trial& trial, const Checks& checks, const std::string& on) {
  if (const auto change = trial.changed_process(); change && checks.on(Check::process_state)) {
    throw WrongResult{Check::process_state, on, fmt::format("{}: the launch {}", on, *change),
                      true};
  }
}

/// True for a pass that has to tell right results from those that take no computing. One with NaN
/// and infinities tells them by these alone, and says nothing of numbers: it counts where the op
/// has no other.
bool shows_decoys(const Pass& pass, const Passes& all) {
  const auto has_elements = [](const Pass& one) { return one.rule.oracle != Oracle::freivalds; };
  if (!has_elements(pass) || !pass.has_specials()) return has_elements(pass);
  return std::ranges::none_of(
      all, [&](const Pass& other) { return has_elements(other) && !other.has_specials(); });
}

}  // namespace

void Findings::keep_decoys(std::size_t output, const std::vector<std::string>& found) {
  if (decoys.size() <= output) decoys.resize(output + 1);
  std::optional<std::vector<std::string>>& kept = decoys[output];
  if (!kept) {
    kept = found;
    return;
  }
  std::erase_if(*kept, [&](const std::string& decoy) {
    return std::ranges::find(found, decoy) == found.end();
  });
}

bool Findings::refutes_decoys(std::size_t output) const {
  return output < decoys.size() && decoys[output] && decoys[output]->empty();
}

std::string Findings::decoy() const {
  for (std::size_t output = 0; output < decoys.size(); ++output) {
    if (!decoys[output] || decoys[output]->empty()) continue;
    const std::string& first = decoys[output]->front();
    return decoys.size() == 1 ? first : fmt::format("{} as output {}", first, output);
  }
  return "";
}

void Findings::add(const oracle::Precision& pass) {
  const auto replace = [](std::optional<double>& figure, const std::optional<double>& by) {
    if (by) figure = by;
  };
  replace(precision.effective_bits, pass.effective_bits);
  replace(precision.worst_ratio, pass.worst_ratio);
  replace(precision.misrounded_fraction, pass.misrounded_fraction);
}

RankInputs generate_inputs(const OpInstance& op, int pass, std::uint64_t seed, int ranks) {
  RankInputs inputs(static_cast<std::size_t>(ranks));
  for (auto& tensors : inputs) {
    for (const TensorSpec& spec : op.signature.inputs) tensors.emplace_back(spec);
  }
  regenerate_inputs(op, pass, seed, inputs);
  return inputs;
}

void regenerate_inputs(const OpInstance& op, int pass, std::uint64_t seed, RankInputs& inputs) {
  regenerate_inputs(op, passes(op).at(static_cast<std::size_t>(pass)), pass, seed, inputs);
}

void regenerate_inputs(const OpInstance& op, const Pass& rules, int pass, std::uint64_t seed,
                       RankInputs& inputs) {
  for (int rank = 0; rank < std::ssize(inputs); ++rank) {
    auto& tensors = inputs[static_cast<std::size_t>(rank)];
    for (int i = 0; i < std::ssize(tensors); ++i) {
      const input::TensorKey key{seed, pass, rank, i};
      input::generate(op, rules, key, tensors[static_cast<std::size_t>(i)]);
    }
  }
}

reference::Problem problem_of(const OpInstance& op, const RankInputs& inputs, const Panel& panel,
                              int rank) {
  const std::span<const std::vector<HostTensor>> all(inputs);
  if (op.op->collective) return {op, all, panel, rank};
  return {op, all.subspan(static_cast<std::size_t>(rank), 1), panel};
}

void demand_right(const oracle::Verdict& verdict, const Judged& judged, bool is_exact,
                  const Checks& checks) {
  const Rule& rule = judged.pass.rule;
  const std::string on(judged.on);
  const auto demand_rule = [&](Check check) {
    if (verdict.passed() || !checks.on(judged.pass, check)) return;
    throw WrongResult{check, on,
                      fmt::format("{}: {}", judged.where, verdict.text(judged.op.signature.ranks))};
  };
  if (!verdict.only_improbable()) demand_rule(check_of(rule.oracle, is_exact));
  for (const oracle::Objection& found : oracle::objections(verdict, rule, judged.op, judged.mode)) {
    if (checks.on(found.check)) {
      throw WrongResult{found.check, on, fmt::format("{}: {}", judged.where, found.text)};
    }
  }
  // All outputs together may name the cause, so they come first.
  if (verdict.only_improbable()) demand_rule(Check::probable_bound);
}

/// One launch that has ended.
struct Judge::Launched {
  const OpInstance& op;                 // as the output is judged (of_output)
  std::span<const Bytes> outputs = {};  // of each rank
  const RankInputs& inputs;
  const Pass& pass;
  MathMode mode;
  std::byte poison;
  std::string on;              // the pass, or the launches
  std::string where;           // begins a reason
  std::string reference = {};  // key of its state; empty: of these data alone
  Panel panel = {};
  std::int64_t first = 0;  // element of the whole output that its outputs begin with
};

/// The right outputs of a launch, and the distance from them that is right too.
class Judge::Expectation {
 public:
  Expectation(const Launched& launched, ReferenceStore& references)
      : op_(launched.op),
        launched_(launched),
        as_a_whole_(launched.pass.rule.oracle == Oracle::freivalds),
        reference_(reference::find(op_)),
        state_(state_in(references)),
        tolerance_(oracle::tolerance(launched.pass.rule, op_, launched.mode)) {}

  const oracle::Tolerance& tolerance() const { return tolerance_; }

  /// Verdict on the outputs of all ranks.
  oracle::Verdict verdict(std::vector<oracle::Seen>& deviations, PhaseClock& clock) const {
    const std::vector<int> ranks = output_ranks(op_.signature);
    const oracle::Verdict first = verdict_of(ranks.front(), deviations, clock);
    oracle::Verdict all = first;
    for (const int rank : std::span(ranks).subspan(1)) {
      // Reuses the verdict of rank 0 for an identical output where ranks agree: the reference is
      // costly.
      const bool same =
          op_.signature.ranks_agree && !input::first_difference(output(0), output(rank));
      all.merge(same ? first : verdict_of(rank, deviations, clock));
    }
    // An oracle that got too few elements would find too little.
    if (all.elements != std::ssize(ranks) * op_.signature.outputs[0].elements()) {
      throw std::logic_error("not every element of every rank was judged");
    }
    return all;
  }

  /// Measures again. Call it for a measured band alone.
  void look_again(const Effort& effort) {
    state_ =
        std::make_unique<StoredState>(reference_.solve_again(problem(0), effort, state_->values()));
    tolerance_ = oracle::tolerance(launched_.pass.rule, op_, launched_.mode, effort.arithmetic);
  }

  /// Names the decoys that would be right for some rank.
  std::vector<std::string> decoys() const {
    std::vector<std::string> decoys;
    for (const int rank : output_ranks(op_.signature)) {
      for (std::string& decoy : oracle::decoys(reference_, problem(rank), state_->values(),
                                               tolerance_, output(rank), launched_.poison)) {
        if (std::ranges::find(decoys, decoy) == decoys.end()) decoys.push_back(std::move(decoy));
      }
    }
    return decoys;
  }

 private:
  std::unique_ptr<StoredState> state_in(ReferenceStore& references) const {
    if (!op_.op->collective && op_.signature.ranks > 1 && reference_.solve != nullptr) {
      throw std::logic_error("one state for ranks that stand for themselves");
    }
    if (reference_.solve == nullptr || as_a_whole_) {
      return std::make_unique<StoredState>(reference::State{});
    }
    const auto solve = [&] { return reference::solve(reference_, problem(0)); };
    if (launched_.reference.empty()) return std::make_unique<StoredState>(solve());
    return references.get(launched_.reference, solve);
  }

  reference::Problem problem(int rank) const {
    return problem_of(op_, launched_.inputs, launched_.panel, rank);
  }
  const Bytes& output(int rank) const { return launched_.outputs[static_cast<std::size_t>(rank)]; }

  oracle::Verdict verdict_of(int rank, std::vector<oracle::Seen>& deviations,
                             PhaseClock& clock) const {
    clock.enter(&PhaseSeconds::comparison);
    const reference::Problem judged = problem(rank);
    if (as_a_whole_) return oracle::freivalds(judged, output(rank));
    std::optional<HostTensor> repaired;
    if (!deviations.empty()) {
      std::ranges::copy(output(rank), repaired.emplace(op_.signature.outputs[0]).bytes().begin());
      oracle::accept_deviations(reference_, judged, state_->values(), *repaired, deviations);
    }
    double reference_share = 0;
    oracle::Verdict found =
        oracle::compare(reference_, judged, state_->values(), tolerance_,
                        repaired ? repaired->bytes() : output(rank), rank, &reference_share);
    clock.give(&PhaseSeconds::reference, reference_share);
    return found;
  }

  const OpInstance& op_;
  const Launched& launched_;
  bool as_a_whole_;  // without a reference of each element
  reference::Reference reference_;
  std::unique_ptr<StoredState> state_;
  oracle::Tolerance tolerance_;
};

/// Judges an output whose rows stand alone and repeat, in blocks of a period. A block with the bits
/// of the first is as right; each other one is judged.
void Judge::judge_blocks(const Launched& launched, Findings& findings) {
  const OpInstance& op = launched.op;
  const Bytes whole = launched.outputs.front();
  const std::int64_t all_rows = rows_apart(op_);
  const std::size_t row_bytes = whole.size() / static_cast<std::size_t>(all_rows);
  const std::int64_t row_elements = op.signature.outputs[0].elements() / all_rows;
  const std::int64_t period = launched.panel.rows;
  const auto block = [&](std::int64_t first) {
    const std::int64_t rows = std::min(period, all_rows - first);
    return whole.subspan(static_cast<std::size_t>(first) * row_bytes,
                         static_cast<std::size_t>(rows) * row_bytes);
  };
  clock_.enter(&PhaseSeconds::comparison);
  const std::int64_t blocks = (all_rows + period - 1) / period;
  std::vector<char> is_first(static_cast<std::size_t>(blocks));  // by its bits
  parallel_runs(blocks, 1, std::ssize(whole), [&](std::int64_t i, std::int64_t) {
    const Bytes bytes = block(i * period);
    const bool is_equal = std::memcmp(bytes.data(), whole.data(), bytes.size()) == 0;
    is_first[static_cast<std::size_t>(i)] = is_equal ? 1 : 0;
  });
  std::optional<PartOfProblem> part;
  for (std::int64_t first = 0; first < all_rows; first += period) {
    const Bytes bytes = block(first);
    const auto rows = static_cast<std::int64_t>(bytes.size() / row_bytes);
    if (first > 0 && is_first[static_cast<std::size_t>(first / period)] != 0) {
      findings.verdict.elements += rows * row_elements;
      continue;
    }
    if (!part || rows != std::ssize(part->rows)) {
      std::vector<std::int64_t> of_period(static_cast<std::size_t>(rows));
      std::iota(of_period.begin(), of_period.end(), std::int64_t{0});
      part = part_of(op_, launched.inputs.front(), std::move(of_period), {});
    }
    const OpInstance of_part = of_output(part->op, op.signature.judged_output);
    judge({.op = of_part,
           .outputs = {&bytes, 1},
           .inputs = part->inputs,
           .pass = launched.pass,
           .mode = launched.mode,
           .poison = launched.poison,
           .on = launched.on,
           .where = launched.where,
           .reference = fmt::format("{} rows={}", launched.reference, rows),
           .first = first * row_elements},
          findings);
  }
}

void Judge::judge(const Launched& launched, Findings& findings) {
  const Pass& pass = launched.pass;
  const MathMode& mode = launched.mode;
  const OpInstance& op = launched.op;
  clock_.enter(&PhaseSeconds::reference);
  Expectation expectation(launched, references_);
  oracle::Verdict verdict = expectation.verdict(findings.deviations, clock_);
  Effort effort;
  while (const auto next = oracle::next_effort(verdict, pass.rule, op, effort)) {
    effort = *next;
    clock_.enter(&PhaseSeconds::reference);
    expectation.look_again(effort);
    verdict = expectation.verdict(findings.deviations, clock_);
  }
  verdict.move(launched.first);
  const oracle::Tolerance& tolerance = expectation.tolerance();
  const std::string judged_by = fmt::format("{}={}{}", pass.name, tolerance.description,
                                            oracle::description(pass.rule, op, mode));
  // Launches that differ in their data alone are named once.
  if (!findings.oracles.ends_with(judged_by)) {
    findings.oracles += (findings.oracles.empty() ? "" : "; ") + judged_by;
  }
  findings.verdict.merge(verdict);
  findings.add(oracle::precision(verdict, pass.rule, op, mode));
  demand_right(verdict, {op, pass, mode, launched.on, launched.where}, tolerance.exact, checks_);
  if (const std::string note = oracle::note(verdict, pass.rule, op, mode); !note.empty()) {
    findings.notes += (findings.notes.empty() ? "" : ", ") + note;
  }
  if (verdict.unknown > 0) {
    findings.notes += fmt::format("{}{}: of {} of {} elements the reference cannot tell",
                                  findings.notes.empty() ? "" : ", ", launched.where,
                                  verdict.unknown, verdict.elements);
  }
  if (shows_decoys(pass, passes_) && !findings.refutes_decoys(op.signature.judged_output)) {
    findings.keep_decoys(op.signature.judged_output,
                         verdict.elements > 0 && verdict.unknown == verdict.elements
                             ? std::vector<std::string>{"anything"}
                             : expectation.decoys());
  }
}

template <class Describe>
std::vector<Bytes> Judge::judge_outputs(const TensorSet& tensors, bool keep,
                                        std::vector<HostTensor>& kept, const Describe& describe,
                                        Findings& findings) {
  std::vector<Bytes> first;
  for (std::size_t output = 0; output < op_.signature.outputs.size(); ++output) {
    const OpInstance op = of_output(op_, output);
    std::vector<Bytes> outputs = outputs_of(tensors, op, keep, kept);
    Launched launched = describe(op);
    launched.outputs = outputs;
    if (output > 0) {
      launched.where += fmt::format(", output {}", output);
      if (!launched.reference.empty()) launched.reference += fmt::format(" output={}", output);
    }
    if (input::repeats_rows_apart(launched.op, launched.panel)) {
      judge_blocks(launched, findings);
    } else {
      judge(launched, findings);
    }
    if (output == 0) first = std::move(outputs);
  }
  return first;
}

void Judge::launch(Trial& trial, int pass, const RankInputs& inputs, Findings& findings,
                   std::vector<HostTensor>& kept) {
  const Pass& rules = passes_.at(static_cast<std::size_t>(pass));
  const std::string on(rules.name);
  clock_.enter(&PhaseSeconds::input);
  trial.tensors().upload(inputs);
  trial.arm(fill_of(pass));
  clock_.enter(&PhaseSeconds::execution);
  trial.launch();
  trial.synchronize();
  clock_.enter(&PhaseSeconds::comparison);
  check_process_state(trial, checks_, on);  // before computing the reference in it
  trial.pause();  // what others' threads do now, spin above all, is at the judge's cost
  const bool is_last = pass + 1 == std::ssize(passes_);
  const auto first = judge_outputs(
      trial.tensors(), is_last, kept,
      [&](const OpInstance& op) {
        return Launched{.op = op,
                        .inputs = inputs,
                        .pass = rules,
                        .mode = trial.math_mode(),
                        .poison = fill_of(pass).poison,
                        .on = on,
                        .where = on,
                        .reference = fmt::format("{} pass={}", key_, pass),
                        .panel = input::panel(op_, pass)};
      },
      findings);
  check_surroundings(trial, {&inputs, 1}, checks_, on);
  if (op_.signature.ranks_agree && checks_.on(Check::agreement_of_ranks)) {
    check_ranks_agree(first, output_dtype(op_), on);
  }
}

void Judge::timed(const Trial& trial, std::size_t set, int pass, const RankInputs& inputs,
                  const std::string& on, Findings& findings) {
  std::vector<HostTensor> kept;
  clock_.enter(&PhaseSeconds::comparison);
  const Pass& rules = passes_.at(static_cast<std::size_t>(pass));
  // The data are of this process alone: nothing else can use their reference.
  const auto first = judge_outputs(
      trial.tensors(set), false, kept,
      [&](const OpInstance& op) {
        return Launched{.op = op,
                        .inputs = inputs,
                        .pass = rules,
                        .mode = trial.math_mode(),
                        .poison = timing_fill.poison,
                        .on = std::string(timed_launches),
                        .where = on};
      },
      findings);
  if (op_.signature.ranks_agree && checks_.on(Check::agreement_of_ranks)) {
    check_ranks_agree(first, output_dtype(op_), std::string(timed_launches));
  }
}

std::string deviations_seen(const Findings& findings) {
  std::string ids;
  for (const oracle::Seen& seen : findings.deviations) {
    if (seen.places > 0 && seen.deviating == 0) {
      throw WrongResult{Check::declared_deviation, "",
                        fmt::format("the declared deviation {} was not seen at any of {} places",
                                    seen.deviation->id, seen.places)};
    }
    if (seen.deviating > 0) add_deviation(ids, *seen.deviation);
  }
  return ids;
}

void add_deviation(std::string& reason, const Deviation& seen) {
  reason += fmt::format("{}deviation:{}", reason.empty() ? "" : ", ", seen.id);
}

void check_surroundings(const Trial& trial, std::span<const RankInputs> contents,
                        const Checks& checks, const std::string& on) {
  const auto demand = [&](Check check, const std::optional<std::string>& damage) {
    if (damage) throw WrongResult{check, on, on + ": " + *damage, true};
  };
  if (const auto place = trial.elsewhere(); place && checks.on(Check::placement)) {
    throw WrongResult{Check::placement, on, on + ": " + *place};
  }
  check_process_state(trial, checks, on);
  if (checks.on(Check::guard_bands)) demand(Check::guard_bands, trial.damage());
  if (checks.on(Check::unchanged_inputs)) {
    demand(Check::unchanged_inputs, trial.changed_input(contents));
  }
}

void arm_for_timing(Trial& trial) { trial.arm(timing_fill); }

void soak(Trial& trial, const RankInputs& inputs, const std::vector<HostTensor>& verified,
          const Checks& checks, std::int64_t launches) {
  if (!checks.on(Check::soak)) return;
  trial.arm(timing_fill);
  for (std::int64_t launch = 1; launch <= launches; ++launch) {
    if (trial.in_place()) trial.tensors().restore(inputs);
    trial.launch();
    trial.synchronize();
    each_output(trial, verified, [&](int rank, std::size_t output, const HostTensor& right) {
      if (const auto element = trial.tensors().output(rank, output).first_difference(right)) {
        throw WrongResult{
            Check::soak, "",
            fmt::format("not repeatable: launch {} of {} differs from the verified one at [{}]{}",
                        launch, launches, *element, oracle::of_rank(rank, trial.ranks()))};
      }
    });
  }
  check_surroundings(trial, {&inputs, 1}, checks, "soak");
}

void check_last_launch(const Trial& trial, const std::vector<HostTensor>& verified,
                       const Checks& checks) {
  if (!checks.on(Check::last_launch)) return;
  each_output(trial, verified, [&](int rank, std::size_t output, const HostTensor& right) {
    const auto element = trial.tensors().output(rank, output).first_difference(right);
    if (!element) return;
    throw WrongResult{
        Check::last_launch, "",
        fmt::format("not repeatable: the last launch differs from the verified one at [{}]{}",
                    *element, oracle::of_rank(rank, trial.ranks()))};
  });
}

}  // namespace assay
