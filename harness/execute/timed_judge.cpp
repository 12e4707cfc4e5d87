#include "harness/execute/timed_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "harness/input/first_difference.h"
#include "harness/oracle/compare.h"
#include "harness/oracle/freivalds.h"
#include "harness/oracle/precision.h"
#include "harness/oracle/random_signs.h"
#include "harness/oracle/tolerance.h"
#include "kernels/core/clock.h"
#include "kernels/reference/reference.h"

namespace assay {
namespace {

/// Shares of the time of samples and of drawing their inputs: together at most a tenth. Where
/// inputs take far longer than launches, as those of a kernel that finds its results, few samples
/// are taken, and some of them still are judged.
constexpr double spot_share = 0.05;
constexpr double whole_share = 0.05;
/// Time after which no further set of the last sample is judged.
constexpr double last_spots_s = 0.05;
/// Guesses of the first costs.
constexpr double guessed_spot_s = 100e-6;
constexpr double guessed_whole_s_per_byte = 1e-9;

/// Elements of a run that is judged, and runs of a spot.
constexpr std::int64_t run_elements = 16;
constexpr std::int64_t spot_runs = 24;
/// Outputs of at most so many elements are judged whole.
constexpr std::int64_t few_elements = 1024;
/// Products of at most so many operations have a reference of all elements.
constexpr double few_flops = 1 << 26;
constexpr double few_bytes = 1 << 20;

/// Elements of the rows of a part.
constexpr std::int64_t spot_elements = spot_runs * run_elements;
constexpr std::int64_t many_elements = 64 * spot_elements;
/// Rows of a part, or of a set's share in one: one anywhere, one where a decoy lay, and one where
/// an input changed.
constexpr std::int64_t min_rows = 4;

/// Elements of a row of an output, which has some.
std::int64_t row_elements(const OpInstance& op) {
  return op.signature.outputs[0].elements() / rows_apart(op);
}

/// Rows that have so many elements.
std::int64_t rows_of(std::int64_t elements, const OpInstance& op) {
  return std::max(min_rows, elements / row_elements(op));
}

/// Sets whose rows are judged together.
std::size_t max_joined_sets(const OpInstance& op) {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, many_elements / (min_rows * row_elements(op))));
}

bool leaves_nothing(const OpInstance& op) {
  return std::ranges::all_of(op.signature.outputs,
                             [](const TensorSpec& output) { return output.elements() == 0; });
}

}  // namespace

TimedJudge::TimedJudge(Trial& trial, const Rotation& rotation, Judge& judge, const Checks& checks,
                       const std::vector<HostTensor>& donors, std::uint64_t secret,
                       Findings findings)
    : trial_(trial),
      op_(trial.op()),
      rotation_(rotation),
      judge_(judge),
      checks_(checks),
      findings_(std::move(findings)),
      mode_(trial.math_mode()),
      passes_(passes(op_)),
      random_(secret),
      decoys_(op_, donors, random_),
      decoyed_(trial.sets()),
      for_spots_(spot_share, random_),
      for_wholes_(whole_share, random_),
      spot_s_(guessed_spot_s),
      whole_s_(guessed_whole_s_per_byte *
               static_cast<double>(op_.signature.outputs[0].bytes() + 100000)) {}

void TimedJudge::before_sample() {
  for (const Reading& before : std::exchange(readings_, {})) {
    if (!checks_.on(Check::late_writes)) return;
    Reading now = before;
    read(now);
    const auto byte = input::first_difference(before.bytes, now.bytes);
    if (!byte) continue;
    const std::size_t element = *byte / size_bytes(op_.signature.outputs[before.output].dtype);
    const auto length = static_cast<std::size_t>(before.length);
    throw WrongResult{
        Check::late_writes, std::string(timed_launches),
        fmt::format("{}: [{}] changed after its launch had ended", where(before.set),
                    before.first[element / length] + static_cast<std::int64_t>(element % length))};
  }
}

void TimedJudge::lay_decoys(const Turns& turns) {
  for (const std::size_t set : turns.sets()) decoyed_[set] = decoys_.lay(trial_.tensors(set));
}

void TimedJudge::after_sample(const Turns& turns, double seconds) {
  ++samples_;
  for_spots_.earn(seconds);
  for_wholes_.earn(seconds);
  const std::vector<std::size_t> sets = turns.sets();
  if (for_spots_.affords(spot_s_)) {
    const double begin_s = steady_s();
    has_rows_alone() ? judge_rows(sets, 0) : judge_set(any_of(sets), Size::spot);
    spot_s_ = steady_s() - begin_s;
    for_spots_.spend(spot_s_);
  }
  if (for_wholes_.affords(whole_s_)) {
    const double begin_s = steady_s();
    const std::size_t set = any_of(sets);
    // In turns: a repeated launch costs about as much.
    if (random_() % 2 == 0) {
      judge_whole(set);
    } else {
      repeat(set);
    }
    whole_s_ = steady_s() - begin_s;
    for_wholes_.spend(whole_s_);
  }
}

void TimedJudge::finish(const Turns& turns) {
  std::vector<std::size_t> sets = turns.sets();
  std::ranges::shuffle(sets, random_);
  const double begin_s = steady_s();
  if (has_rows_alone()) {
    judge_rows(sets, last_spots_s);
  } else {
    for (const std::size_t set : sets) {
      judge_set(set, Size::spot);
      if (steady_s() - begin_s > last_spots_s) break;
    }
  }
  before_sample();
  if (how() != How::whole) judge_whole(sets.front());
  repeat(sets.front());
}

TimedJudge::How TimedJudge::how() const {
  if (op_.signature.outputs[0].elements() <= few_elements) return How::whole;
  if (op_.signature.outputs.size() > 1) return How::whole;
  // Deviations are put right in whole outputs.
  if (!findings_.deviations.empty()) return How::whole;
  if (reference::find(op_).solve == nullptr) return How::elements;
  const bool has_parts = rows_apart(op_) > 2 || columns_apart(op_) > 2 * run_elements;
  return has_parts && op_.signature.ranks == 1 ? How::part : How::whole;
}

void TimedJudge::judge_set(std::size_t set, Size size) {
  if (leaves_nothing(op_)) return;
  switch (how()) {
    case How::elements:
      for (const int rank : output_ranks(op_.signature)) judge_elements(set, rank, size);
      return;
    case How::part:
      judge_part(set, size);
      return;
    case How::whole:
      judge_whole(set);
      return;
  }
}

void TimedJudge::read(Reading& reading) const {
  const std::size_t width = size_bytes(op_.signature.outputs[reading.output].dtype);
  const std::size_t run_bytes = static_cast<std::size_t>(reading.length) * width;
  reading.bytes.resize(run_bytes * reading.first.size());
  std::vector<input::GuardedTensor::Run<std::byte>> runs;
  for (std::size_t i = 0; i < reading.first.size(); ++i) {
    runs.push_back({static_cast<std::size_t>(reading.first[i]) * width,
                    std::span(reading.bytes).subspan(i * run_bytes, run_bytes)});
  }
  trial_.tensors(reading.set).output(reading.rank, reading.output).read(runs);
}

/// Half of them where decoys lay or where inputs changed, the others anywhere.
std::vector<std::int64_t> TimedJudge::runs_to_judge(std::size_t set, std::int64_t count,
                                                    std::int64_t length) {
  const std::int64_t last = op_.signature.outputs[0].elements() - length;
  std::vector<std::int64_t> first = draw_runs(last + length, count / 2, length, random_).first;
  const auto take_from = [&](std::span<const std::int64_t> known) {
    for (std::int64_t i = 0; i < count / 4 && !known.empty(); ++i) {
      first.push_back(std::min(last, known[random_() % known.size()]));
    }
  };
  take_from(decoyed_[set].first);
  take_from(rotation_.changed_runs(set));
  return first;
}

void TimedJudge::judge_elements(std::size_t set, int rank, Size size) {
  const std::int64_t elements = op_.signature.outputs[0].elements();
  const std::int64_t length = std::min(run_elements, elements);
  const std::int64_t count = spot_runs * (size == Size::spot ? 1 : 64);
  Reading reading{
      .set = set, .rank = rank, .first = runs_to_judge(set, count, length), .length = length};
  read(reading);
  const Pass& pass = pass_of(set);
  const reference::Reference expected = reference::find(op_);
  const reference::Problem problem = problem_of(op_, rotation_.content(set), {}, rank);
  const oracle::Tolerance tolerance = oracle::tolerance(pass.rule, op_, mode_);
  const std::size_t run_bytes = reading.bytes.size() / reading.first.size();
  oracle::Verdict verdict{.dtype = output_dtype(op_)};
  for (std::size_t i = 0; i < reading.first.size(); ++i) {
    verdict.merge(oracle::compare_run(expected, problem, {}, tolerance,
                                      std::span(reading.bytes).subspan(i * run_bytes, run_bytes),
                                      rank, reading.first[i]));
  }
  if (!verdict.passed())
    demand_right(verdict, judged(op_, pass, where(set)), tolerance.exact, checks_);
  readings_.push_back(std::move(reading));
}

std::vector<std::int64_t> TimedJudge::draw_indices(std::int64_t end, std::int64_t count,
                                                   std::int64_t run) {
  std::vector<std::int64_t> indices;
  for (const std::int64_t first : draw_runs(end, count / run, run, random_).first) {
    for (std::int64_t i = 0; i < std::min(run, end); ++i) indices.push_back(first + i);
  }
  std::ranges::sort(indices);
  indices.erase(std::ranges::unique(indices).begin(), indices.end());
  return indices;
}

/// Rows, of which half are where decoys lay or where inputs changed.
std::vector<std::int64_t> TimedJudge::draw_rows(std::size_t set, std::int64_t count) {
  std::vector<std::int64_t> rows = runs_to_judge(set, std::min(count, rows_apart(op_) - 1), 1);
  for (std::int64_t& row : rows) row /= row_elements(op_);
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  return rows;
}

void TimedJudge::judge_part(std::size_t set, Size size) {
  const bool is_spot = size == Size::spot;
  const std::int64_t all_rows = rows_apart(op_);
  const std::int64_t all_columns = columns_apart(op_);
  const bool by_columns = has_columns_apart(op_) && all_columns > 2 * run_elements;
  std::vector<std::int64_t> rows;
  if (all_rows > 2 && by_columns) {
    rows = draw_indices(all_rows, std::min<std::int64_t>(is_spot ? 2 : 32, all_rows - 1), 1);
  } else if (all_rows > 2) {
    rows = draw_rows(set, rows_of(is_spot ? spot_elements : many_elements, op_));
  }
  std::vector<std::int64_t> columns;
  if (by_columns)
    columns = draw_indices(all_columns, std::min<std::int64_t>(is_spot ? 32 : 64, all_columns - 1),
                           run_elements);
  const RankInputs& inputs = rotation_.content(set);
  const PartOfProblem part = part_of(op_, inputs[0], rows, columns);

  Reading reading{.set = set};
  const std::int64_t elements = part.op.signature.outputs[0].elements();
  reading.length = by_columns ? 1 : part.whole_columns;
  for (std::int64_t i = 0; i < elements; i += reading.length) {
    reading.first.push_back(part.index_in_whole(i));
  }
  read(reading);
  judge_read(part, reading.bytes, {&set, 1});
  readings_.push_back(std::move(reading));
}

bool TimedJudge::has_rows_alone() const {
  return how() == How::part && rows_apart(op_) > 2 && !has_columns_apart(op_);
}

/// Reads rows of all sets before it judges any: a reference takes so long that work which goes on
/// would end meanwhile. Judges some of them, and goes on until `limit_s` is over.
void TimedJudge::judge_rows(std::vector<std::size_t> sets, double limit_s) {
  const double begin_s = steady_s();
  std::ranges::shuffle(sets, random_);
  const std::int64_t width = row_elements(op_);
  const std::size_t together = can_join_rows(op_) ? max_joined_sets(op_) : 1;
  const auto sharing = static_cast<std::int64_t>(std::min(together, sets.size()));
  std::map<int, std::vector<Reading>> of_pass;
  for (const std::size_t set : sets) {
    Reading reading{.set = set,
                    .first = draw_rows(set, rows_of(spot_elements / sharing, op_)),
                    .length = width};
    for (std::int64_t& first : reading.first) first *= width;
    read(reading);
    of_pass[rotation_.pass_of(set)].push_back(reading);
    readings_.push_back(std::move(reading));
  }
  for (const auto& [pass, readings] : of_pass) {
    for (std::size_t i = 0; i < readings.size(); i += together) {
      judge_joined(std::span(readings).subspan(i, std::min(together, readings.size() - i)));
      if (steady_s() - begin_s > limit_s) return;
    }
  }
}

/// Judges rows of several sets at once: that costs a reference which another process computes
/// hardly more than those of one.
void TimedJudge::judge_joined(std::span<const Reading> readings) {
  std::vector<PartOfProblem> parts;
  std::vector<std::size_t> set_of_row;
  std::vector<std::byte> bytes;
  for (const Reading& reading : readings) {
    std::vector<std::int64_t> rows = reading.first;
    for (std::int64_t& row : rows) row /= reading.length;
    set_of_row.insert(set_of_row.end(), rows.size(), reading.set);
    bytes.insert(bytes.end(), reading.bytes.begin(), reading.bytes.end());
    parts.push_back(part_of(op_, rotation_.content(reading.set)[0], std::move(rows), {}));
  }
  if (parts.size() == 1) return judge_read(parts.front(), bytes, set_of_row);
  judge_read(joined(op_, parts), bytes, set_of_row);
}

/// Judges what was read of a part. `set_of_row` has the set of each row, or the one of all.
void TimedJudge::judge_read(const PartOfProblem& part, std::span<const std::byte> bytes,
                            std::span<const std::size_t> set_of_row) {
  const Pass& pass = pass_of(set_of_row.front());
  const reference::Reference expected = reference::find(part.op);
  const reference::Problem problem{part.op, part.inputs};
  const oracle::Tolerance tolerance = oracle::tolerance(pass.rule, op_, mode_);
  const auto compared_with = [&](const reference::State& state) {
    return oracle::compare(expected, problem, state, tolerance, bytes, 0);
  };
  reference::State state = reference::solve(expected, problem);
  oracle::Verdict verdict = compared_with(state);
  Effort effort;
  while (const auto next = oracle::next_effort(verdict, pass.rule, part.op, effort)) {
    effort = *next;
    state = expected.solve_again(problem, effort, state);
    verdict = compared_with(state);
  }
  const auto row = static_cast<std::size_t>(verdict.worst.index / part.whole_columns);
  const std::size_t set = set_of_row[std::min(row, set_of_row.size() - 1)];
  verdict.worst.index = part.index_in_whole(verdict.worst.index);
  for (std::int64_t& index : verdict.mismatch_indices) index = part.index_in_whole(index);
  std::ranges::sort(verdict.mismatch_indices);  // of several sets
  verdict.largest_index = part.index_in_whole(verdict.largest_index);
  demand_right(verdict, judged(part.op, pass, where(set)), tolerance.exact, checks_);
}

void TimedJudge::judge_whole(std::size_t set) {
  const Signature& s = op_.signature;
  if (leaves_nothing(op_)) return;
  const bool is_large_product = s.is_product && s.flops > few_flops;
  if (is_large_product && pass_of(set).rule.oracle != Oracle::freivalds) {
    judge_part(set, Size::many);
    if (oracle::has_random_signs(op_)) judge_by_signs(set);
    return;
  }
  // An op of a user tells no work, and its reference costs much.
  const bool is_measured = pass_of(set).rule.oracle == Oracle::measured_band;
  const bool is_large = is_measured ? s.bytes > few_bytes : s.flops > few_flops;
  if (has_rows_apart(op_) && is_large && reference::find(op_).solve != nullptr &&
      how() == How::part) {
    judge_part(set, Size::many);
    return;
  }
  // Before they are judged: what is judged later must be the same.
  std::vector<Reading> small;
  for (std::size_t output = 0; output < s.outputs.size(); ++output) {
    const std::int64_t elements = s.outputs[output].elements();
    if (elements == 0 || (s.outputs.size() == 1 && elements > few_elements)) continue;
    for (const int rank : output_ranks(s)) {
      read(small.emplace_back(Reading{.set = set,
                                      .rank = rank,
                                      .output = output,
                                      .first = {0},
                                      .length = std::min(elements, few_elements)}));
    }
  }
  judge_.timed(trial_, set, rotation_.pass_of(set), rotation_.content(set), where(set), findings_);
  std::ranges::move(small, std::back_inserter(readings_));
}

void TimedJudge::judge_by_signs(std::size_t set) {
  const Pass& pass = pass_of(set);
  const oracle::Tolerance tolerance = oracle::tolerance(pass.rule, op_, mode_);
  // Exact data may err by the last rounding alone, which the rule of the real data allows.
  const oracle::Tolerance bound =
      tolerance.exact ? oracle::tolerance(passes_.back().rule, op_, mode_) : tolerance;
  HostTensor whole(op_.signature.outputs[0]);
  trial_.tensors(set).output(0).download(whole);
  const reference::Problem problem = problem_of(op_, rotation_.content(set), {}, 0);
  const oracle::RowResidual worst = oracle::random_signs(problem, bound, whole.bytes(), random_());
  oracles_ = fmt::format("timed={}", oracle::random_signs_text());
  if (worst.passed()) return;
  throw WrongResult{Check::random_signs, std::string(timed_launches),
                    fmt::format("{}: row {} as a whole is off by {:.3g}, at most {:.3g} may be",
                                where(set), worst.row, worst.residual, worst.allowed)};
}

/// Launches once more on the inputs of the last sample, over other decoys.
void TimedJudge::repeat(std::size_t set) {
  if (!checks_.on(Check::last_launch) || leaves_nothing(op_)) return;
  TensorSet& tensors = trial_.tensors(set);
  std::vector<HostTensor> before;
  const std::size_t outputs = op_.signature.outputs.size();
  for (std::size_t output = 0; output < outputs; ++output) {
    for (const int rank : output_ranks(op_.signature)) {
      tensors.output(rank, output).download(before.emplace_back(op_.signature.outputs[output]));
    }
  }
  if (trial_.in_place()) tensors.restore(rotation_.content(set));
  decoys_.lay(tensors);
  trial_.time_s(1, false, set);
  trial_.pause();
  const std::vector<int> ranks = output_ranks(op_.signature);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const int rank = ranks[i % ranks.size()];
    const auto element = tensors.output(rank, i / ranks.size()).first_difference(before[i]);
    if (!element) continue;
    repeatable_ = false;
    if (findings_.may_differ != nullptr) {
      std::erase_if(readings_, [&](const Reading& last) { return last.set == set; });
      return judge_whole(set);
    }
    throw WrongResult{
        Check::last_launch, std::string(timed_launches),
        fmt::format("not repeatable: {}: a launch on the same inputs left other bits at [{}]{}",
                    where(set), *element, oracle::of_rank(rank, trial_.ranks()))};
  }
  repeatable_ = repeatable_.value_or(true);
}

std::size_t TimedJudge::any_of(const std::vector<std::size_t>& sets) {
  return sets[random_() % sets.size()];
}

std::string TimedJudge::where(std::size_t set) const {
  return fmt::format("{}: sample {} (set {}, {})", timed_launches, samples_, set,
                     pass_of(set).name);
}

}  // namespace assay
