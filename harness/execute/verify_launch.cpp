#include "harness/execute/verify_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "harness/input/first_difference.h"
#include "harness/input/generate.h"
#include "harness/input/panel.h"
#include "harness/oracle/compare.h"
#include "harness/oracle/freivalds.h"
#include "harness/oracle/vacuous.h"

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

/// Output of each rank for the host to read: in place, or downloaded to `kept`; empty for a rank
/// without one. The last pass needs the download (`keep`): later launches are compared with it.
std::vector<Bytes> outputs_of(const TensorSet& tensors, const OpInstance& op, bool keep,
                              std::vector<HostTensor>& kept) {
  std::vector<Bytes> outputs(static_cast<std::size_t>(op.signature.ranks));
  for (const int rank : output_ranks(op.signature)) {
    Bytes& bytes = outputs[static_cast<std::size_t>(rank)];
    if (const auto in_place = tensors.output(rank).readable(); in_place && !keep) {
      bytes = *in_place;
      continue;
    }
    // `bytes` refers to those of a tensor, which do not move when the list grows.
    while (std::ssize(kept) <= rank) {
      kept.emplace_back(tensors_of(op.signature, static_cast<int>(kept.size())).outputs[0]);
    }
    HostTensor& to = kept[static_cast<std::size_t>(rank)];
    tensors.output(rank).download(to);
    bytes = to.bytes();
  }
  return outputs;
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

}  // namespace

void Findings::keep_decoys(const std::vector<std::string>& found) {
  if (!decoys) {
    decoys = found;
    return;
  }
  std::erase_if(*decoys, [&](const std::string& decoy) {
    return std::ranges::find(found, decoy) == found.end();
  });
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
  const Pass rules = passes(op).at(static_cast<std::size_t>(pass));
  for (int rank = 0; rank < std::ssize(inputs); ++rank) {
    auto& tensors = inputs[static_cast<std::size_t>(rank)];
    for (int i = 0; i < std::ssize(tensors); ++i) {
      const input::TensorKey key{seed, pass, rank, i};
      input::generate(op, rules, key, tensors[static_cast<std::size_t>(i)]);
    }
  }
}

void Judge::launch(Trial& trial, int pass, const RankInputs& inputs, Findings& findings,
                   std::vector<HostTensor>& kept) {
  const Pass rules = passes(op_).at(static_cast<std::size_t>(pass));
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
  const bool is_last = pass + 1 == std::ssize(passes(op_));
  const std::vector<Bytes> outputs = outputs_of(trial.tensors(), op_, is_last, kept);
  judge(outputs, trial.math_mode(), pass,
        {on, on, fmt::format("{} pass={}", key_, pass), input::panel(op_, pass)}, inputs,
        fill_of(pass).poison, findings);
  check_surroundings(trial, {&inputs, 1}, checks_, on);
  if (op_.signature.ranks_agree && checks_.on(Check::agreement_of_ranks)) {
    check_ranks_agree(outputs, output_dtype(op_), on);
  }
}

void Judge::timed(const Trial& trial, std::size_t set, int pass, const RankInputs& inputs,
                  const std::string& on, Findings& findings) {
  std::vector<HostTensor> kept;
  clock_.enter(&PhaseSeconds::comparison);
  const std::vector<Bytes> outputs = outputs_of(trial.tensors(set), op_, false, kept);
  // The data are of this process alone: nothing else can use their reference.
  judge(outputs, trial.math_mode(), pass, {std::string(timed_launches), on, "", {}}, inputs,
        timing_fill.poison, findings);
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

void Judge::judge(std::span<const Bytes> outputs, const MathMode& mode, int pass,
                  const Launched& launched, const RankInputs& inputs, std::byte poison,
                  Findings& findings) {
  const OpInstance& op = op_;
  const Checks& checks = checks_;
  PhaseClock& clock = clock_;
  const Pass rules = passes(op).at(static_cast<std::size_t>(pass));
  clock.enter(&PhaseSeconds::reference);
  const bool as_a_whole = rules.rule.oracle == Oracle::freivalds;
  const reference::Reference expected = reference::find(op);
  const auto problem_at = [&](int rank) { return problem_of(op, inputs, launched.panel, rank); };
  if (!op.op->collective && op.signature.ranks > 1 && expected.solve != nullptr) {
    throw std::logic_error("one state for ranks that stand for themselves");
  }
  const auto solve = [&] { return reference::solve(expected, problem_at(0)); };
  std::unique_ptr<StoredState> state;
  if (expected.solve == nullptr || as_a_whole) {
    state = std::make_unique<StoredState>(reference::State{});
  } else if (launched.reference.empty()) {
    state = std::make_unique<StoredState>(solve());
  } else {
    state = references_.get(launched.reference, solve);
  }
  const oracle::Tolerance tolerance = oracle::tolerance(rules.rule, op, mode);
  const auto judged = [&](int rank) {
    clock.enter(&PhaseSeconds::comparison);
    const Bytes output = outputs[static_cast<std::size_t>(rank)];
    const reference::Problem problem = problem_at(rank);
    std::optional<HostTensor> repaired;
    if (!findings.deviations.empty() && !as_a_whole) {
      std::ranges::copy(output, repaired.emplace(op.signature.outputs[0]).bytes().begin());
      oracle::accept_deviations(expected, problem, state->values(), *repaired, findings.deviations);
    }
    const Bytes actual = repaired ? repaired->bytes() : output;
    if (as_a_whole) return oracle::freivalds(problem, actual);
    double reference_share = 0;
    oracle::Verdict found = oracle::compare(expected, problem, state->values(), tolerance, actual,
                                            rank, &reference_share);
    clock.give(&PhaseSeconds::reference, reference_share);
    return found;
  };
  const std::vector<int> judged_ranks = output_ranks(op.signature);
  const oracle::Verdict first = judged(judged_ranks.front());
  oracle::Verdict verdict = first;
  for (const int rank : std::span(judged_ranks).subspan(1)) {
    // Reuses the verdict of rank 0 for an identical output where ranks agree: the reference is
    // costly.
    const bool same = op.signature.ranks_agree &&
                      !input::first_difference(outputs[0], outputs[static_cast<std::size_t>(rank)]);
    verdict.merge(same ? first : judged(rank));
  }
  // An oracle that got too few elements would find too little.
  if (verdict.elements != output_elements(op.signature)) {
    throw std::logic_error("not every element of every rank was judged");
  }
  const std::string judged_by = fmt::format("{}={}{}", rules.name, tolerance.description,
                                            oracle::description(rules.rule, op, mode));
  // Launches that differ in their data alone are named once.
  if (!findings.oracles.ends_with(judged_by)) {
    findings.oracles += (findings.oracles.empty() ? "" : "; ") + judged_by;
  }
  findings.verdict.merge(verdict);
  const oracle::Precision precision = oracle::precision(verdict, rules.rule, op, mode);
  if (precision.effective_bits) findings.precision.effective_bits = precision.effective_bits;
  if (precision.worst_ratio) findings.precision.worst_ratio = precision.worst_ratio;
  if (precision.misrounded_fraction) {
    findings.precision.misrounded_fraction = precision.misrounded_fraction;
  }

  demand_right(verdict, {op, rules, mode, launched.on, launched.where}, tolerance.exact, checks);
  if (const std::string note = oracle::note(verdict, rules.rule, op, mode); !note.empty()) {
    findings.notes += (findings.notes.empty() ? "" : ", ") + note;
  }
  if (as_a_whole) return;
  std::vector<std::string> decoys;  // of any rank
  for (const int rank : judged_ranks) {
    for (std::string& decoy : oracle::decoys(expected, problem_at(rank), state->values(), tolerance,
                                             outputs[static_cast<std::size_t>(rank)], poison)) {
      if (std::ranges::find(decoys, decoy) == decoys.end()) decoys.push_back(std::move(decoy));
    }
  }
  findings.keep_decoys(decoys);
}

std::string deviations_seen(const Findings& findings) {
  std::string ids;
  for (const oracle::Seen& seen : findings.deviations) {
    if (seen.places > 0 && seen.deviating == 0) {
      throw WrongResult{Check::declared_deviation, "",
                        fmt::format("the declared deviation {} was not seen at any of {} places",
                                    seen.deviation->id, seen.places)};
    }
    if (seen.deviating > 0)
      ids += fmt::format("{}deviation:{}", ids.empty() ? "" : ", ", seen.deviation->id);
  }
  return ids;
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
    for (const int rank : output_ranks(trial.op().signature)) {
      const HostTensor& right = verified[static_cast<std::size_t>(rank)];
      if (const auto element = trial.tensors().output(rank).first_difference(right)) {
        throw WrongResult{
            Check::soak, "",
            fmt::format("not repeatable: launch {} of {} differs from the verified one at [{}]{}",
                        launch, launches, *element, oracle::of_rank(rank, trial.ranks()))};
      }
    }
  }
  check_surroundings(trial, {&inputs, 1}, checks, "soak");
}

void check_last_launch(const Trial& trial, const std::vector<HostTensor>& verified,
                       const Checks& checks) {
  if (!checks.on(Check::last_launch)) return;
  for (const int rank : output_ranks(trial.op().signature)) {
    const HostTensor& right = verified[static_cast<std::size_t>(rank)];
    const auto element = trial.tensors().output(rank).first_difference(right);
    if (!element) continue;
    throw WrongResult{
        Check::last_launch, "",
        fmt::format("not repeatable: the last launch differs from the verified one at [{}]{}",
                    *element, oracle::of_rank(rank, trial.ranks()))};
  }
}

}  // namespace assay
