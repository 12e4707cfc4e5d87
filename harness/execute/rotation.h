#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "harness/execute/allowance.h"
#include "harness/execute/decoys.h"
#include "harness/execute/trial.h"
#include "harness/execute/turns.h"
#include "harness/execute/verify_launch.h"
#include "kernels/ops/op.h"

namespace assay {

/// Sets of tensors that the timed launches of a trial take in turns, and what is in them, which
/// changes between samples. Nothing foretells it: it depends on a secret of the run.
///
/// Where work on the inputs takes much longer than reading them, they are drawn anew, and rows
/// never repeat: a device that finds out what changed, or which rows are equal, could skip the
/// rest. Elsewhere many places change, and to find them takes as long as the work.
///
/// Our own kernels share one content, which changes now and then. With inputs of their own, all
/// sets differ and change before each sample: no launch of a sample sees what an earlier one has
/// seen, and a remembered result is a wrong one. The sets then are larger together than the
/// device's last-level cache, and one of them has data whose right result is known bit for bit.
class Rotation {
 public:
  /// Makes the sets; fewer where memory is short. `contents` begins with the verified inputs, which
  /// the first set has already, and gets those of the others.
  Rotation(Trial& trial, const OpInstance& op, std::uint64_t secret,
           std::vector<RankInputs>& contents, bool has_own_inputs);

  /// True if the sets have inputs of their own.
  bool has_own_inputs() const { return has_own_inputs_; }
  /// Inputs of each set, or those of all.
  std::span<const RankInputs> contents() const { return contents_; }
  const RankInputs& content(std::size_t set) const { return contents_[set % contents_.size()]; }
  /// Pass whose data a set has.
  int pass_of(std::size_t set) const { return of_content_[set % contents_.size()].pass; }
  /// First elements of the runs of the output that depend on what changed last in a set, as far as
  /// they are known.
  std::span<const std::int64_t> changed_runs(std::size_t set) const {
    return of_content_[set % contents_.size()].changed;
  }

  /// Sets of the next launches, with fresh inputs.
  const Turns& next(std::int64_t launches);
  const Turns& last() const { return turns_; }
  /// Keeps the next launches to the sets of the last ones, with fresh inputs: a kernel that keeps
  /// something by its address is wrong then, however few sets had a second turn.
  void stay() { turns_.launches = 0; }
  /// Counts the time of a sample, a share of which pays for drawing inputs that need not be new.
  void count_sample(double seconds) { allowance_.earn(seconds); }

 private:
  struct Needle {
    int input;
    std::int64_t element;
    std::vector<std::byte> before;
  };
  struct ContentState {
    int pass = 0;
    std::vector<std::int64_t> changed;
    std::optional<Needle> needle;  // the one element that a reduction cannot overlook
  };

  std::size_t wanted_sets() const;
  void refresh(std::size_t content);
  void change_shared();
  void take_any_pass(std::size_t content);
  bool may_copy_elements(std::size_t content) const;
  void draw(std::size_t content);
  void copy_elements(std::size_t content);
  void move_needle(std::size_t content);
  void overwrite(std::size_t content, int rank, int input, TensorSet::WrittenRuns runs);
  std::int64_t below(std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_);
  }

  Trial& trial_;
  const OpInstance& op_;
  Passes passes_;
  int real_pass_;
  std::optional<int> exact_pass_;  // of data whose right result is known bit for bit
  bool has_own_inputs_;
  bool is_drawn_anew_;  // the whole inputs, each time
  std::vector<RankInputs>& contents_;
  std::vector<ContentState> of_content_;
  Turns turns_;
  std::mt19937_64 random_;
  Allowance allowance_;
  bool next_is_drawn_;
  // Time of the last ones; a guess at first.
  double draw_s_;
  double change_s_ = 1e-5;
};

}  // namespace assay
