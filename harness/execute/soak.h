#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/execute/bit_comparer.h"
#include "harness/execute/checks.h"
#include "harness/execute/trial.h"
#include "harness/records/soak_work.h"

namespace assay {

/// Inputs of a case, and for each the right output: known bit for bit, as an oracle has judged it.
struct SoakContents {
  std::array<RankInputs, 2> inputs;
  std::vector<HostTensor> right;
};

/// Multiply-adds of one launch; 0 for an op that has none.
double multiply_adds(const OpInstance& op);
/// True if a soak can use the op: products and copies on one device.
bool can_soak(const OpInstance& op);

/// A verified case that keeps its device busy and compares all bits of all that it computes.
///
/// Two contents take turns, so that a launch which does nothing leaves the output of the other one.
/// A copy goes on through a chain of tensors, and only the last is compared: a bit that any of the
/// copies gets wrong arrives there. Thus most of the time is spent in launches.
class Soak {
 public:
  /// Both contents lie in the sets of `trial`. Throws DeviceError.
  Soak(std::unique_ptr<Trial> trial, Device& device, SoakContents contents);

  /// Launches and compares for `seconds`, at least once. Adds to `work` as it goes: it holds what
  /// was done before an error. Wrong bits are counted; the tensors are then made whole again.
  /// Throws WrongResult if launches wrote elsewhere, or if the device's own comparison misses a
  /// wrong bit: `work` then has no compared products.
  void run(double seconds, const Checks& checks, SoakWork& work);

 private:
  /// Launches that follow each other, and the bits that the last one leaves.
  struct Round {
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::unique_ptr<input::GuardedTensor> right;  // in the device's memory
    std::unique_ptr<BitComparer> comparer;        // null: the host compares
  };

  void prepare_chain();
  void restore();
  bool is_right(std::size_t turn);
  void count_wrong(std::size_t turn, SoakWork& work);
  void check_comparison(std::size_t turn, bool was_right, SoakWork& work);
  void check_around(const Checks& checks);
  void read_condition(SoakWork& work) const;

  std::unique_ptr<Trial> trial_;
  Device& device_;
  SoakContents contents_;
  std::unique_ptr<Stream> stream_;
  std::vector<input::GuardedTensor> chain_;  // that copies go through; empty for other ops
  const input::GuardedTensor* result_ = nullptr;
  std::array<Round, 2> rounds_;
  std::size_t turn_ = 0;
  std::int64_t checked_ = 0;  // intervals
};

}  // namespace assay
