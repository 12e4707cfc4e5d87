#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "harness/execute/trial.h"
#include "harness/execute/verify_launch.h"
#include "kernels/ops/op.h"

namespace assay {

/// Sets of tensors that the timed launches of a trial take in turns, and what is in them. A device
/// cannot skip a launch because it equals the one before.
///
/// Usually all sets have the verified inputs, and must all leave the verified bits. With fresh
/// inputs each has its own, of which a part changes before each sample: no launch of a sample sees
/// what an earlier one has seen, and a remembered result is a wrong one. The sets then are larger
/// together than the device's last-level cache.
class Rotation {
 public:
  /// Makes the sets; fewer where memory is short. `contents` begins with the verified inputs, which
  /// the first set has already, and gets those of the others.
  Rotation(Trial& trial, const OpInstance& op, std::uint64_t seed,
           std::vector<RankInputs>& contents, bool fresh);

  /// True if the sets have inputs of their own, which change.
  bool is_fresh() const { return fresh_; }
  /// Inputs of each set, or those of all.
  std::span<const RankInputs> contents() const { return contents_; }
  const RankInputs& content(std::size_t set) const { return contents_[set % contents_.size()]; }

  /// Sets of the next launches, with fresh inputs.
  const Turns& next(std::int64_t launches);
  const Turns& last() const { return turns_; }

  /// Gives the first set new inputs of another pass.
  void fill_first(int pass);
  /// Changes a part of a set's inputs.
  void freshen(std::size_t set);

 private:
  std::size_t wanted_sets() const;
  void draw(std::size_t content, int key_rank);

  Trial& trial_;
  const OpInstance& op_;
  std::uint64_t seed_;
  int pass_;  // whose data the sets have
  bool fresh_;
  std::vector<RankInputs>& contents_;
  Turns turns_;
  std::mt19937_64 random_;
};

}  // namespace assay
