#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "harness/execute/allowance.h"
#include "harness/execute/checks.h"
#include "harness/execute/decoys.h"
#include "harness/execute/part_of_problem.h"
#include "harness/execute/rotation.h"
#include "harness/execute/trial.h"
#include "harness/execute/verify_launch.h"
#include "harness/records/phases.h"

namespace assay {

/// Judges what timed launches leave, at moments and places that are drawn after them: no launch can
/// be told from a judged one. It costs at most a tenth of the time of the samples, beside a few
/// judgements that each trial gets.
///
/// After a sample it may judge some elements of some sets; now and then all elements of a set; now
/// and then it launches once more on the same inputs and compares the bits. What it has read at
/// once it reads again before the next sample: work that goes on after its stream has ended shows.
class TimedJudge {
 public:
  /// `donors` are right outputs on other inputs, one for each rank. All must outlive it.
  TimedJudge(Trial& trial, const Rotation& rotation, Judge& judge, const Checks& checks,
             const std::vector<HostTensor>& donors, std::uint64_t secret, Findings findings);

  /// Before each sample: looks again at what was read after the last one.
  void before_sample();
  /// Overwrites places of the outputs of the sets that will be launched.
  void lay_decoys(const Turns& turns);
  /// After each sample, which took `seconds` with its inputs.
  void after_sample(const Turns& turns, double seconds);
  /// After the last sample: judges each of its sets, one as a whole, and repeats a launch.
  void finish(const Turns& turns);

  /// Whether each repeated launch left the same bits; empty if none was repeated.
  std::optional<bool> repeatable() const { return repeatable_; }
  /// Rules that judged timed launches, beside those of the verified ones:
  /// "timed=random_signs(t=9)".
  std::string oracles() const { return oracles_; }

 private:
  /// Elements that were read from an output.
  struct Reading {
    std::size_t set = 0;
    int rank = 0;
    std::size_t output = 0;
    std::vector<std::int64_t> first;  // of each run
    std::int64_t length = 0;
    std::vector<std::byte> bytes;
  };
  enum class How { elements, part, whole };
  enum class Size { spot, many };

  How how() const;
  void read(Reading& reading) const;
  void judge_set(std::size_t set, Size size);
  void judge_elements(std::size_t set, int rank, Size size);
  void judge_part(std::size_t set, Size size);
  bool has_rows_alone() const;
  void judge_rows(std::vector<std::size_t> sets, double limit_s);
  void judge_joined(std::span<const Reading> readings);
  void judge_read(const PartOfProblem& part, std::span<const std::byte> bytes,
                  std::span<const std::size_t> set_of_row);
  void judge_whole(std::size_t set);
  void judge_by_signs(std::size_t set);
  void repeat(std::size_t set);
  std::vector<std::int64_t> runs_to_judge(std::size_t set, std::int64_t count, std::int64_t length);
  std::vector<std::int64_t> draw_rows(std::size_t set, std::int64_t count);
  std::vector<std::int64_t> draw_indices(std::int64_t end, std::int64_t count, std::int64_t run);
  std::size_t any_of(const std::vector<std::size_t>& sets);
  std::string where(std::size_t set) const;
  Judged judged(const OpInstance& op, const Pass& pass, const std::string& where) const {
    return {op, pass, mode_, timed_launches, where};
  }
  const Pass& pass_of(std::size_t set) const {
    return passes_[static_cast<std::size_t>(rotation_.pass_of(set))];
  }

  Trial& trial_;
  const OpInstance& op_;
  const Rotation& rotation_;
  Judge& judge_;
  const Checks& checks_;
  Findings findings_;
  MathMode mode_;
  Passes passes_;
  std::mt19937_64 random_;
  Decoys decoys_;
  std::vector<ElementRuns> decoyed_;  // of each set
  Allowance for_spots_;
  Allowance for_wholes_;
  double spot_s_;
  double whole_s_;
  std::int64_t samples_ = 0;
  std::vector<Reading> readings_;  // after the last sample
  std::optional<bool> repeatable_;
  std::string oracles_;
};

}  // namespace assay
