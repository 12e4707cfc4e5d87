#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "harness/execute/tensor_set.h"
#include "kernels/ops/op.h"

namespace assay {

/// Runs of consecutive elements of an output: the first of each, and their common length.
struct ElementRuns {
  std::vector<std::int64_t> first;
  std::int64_t length = 0;
};

/// Draws `count` runs of at most `length` elements out of `elements`.
ElementRuns draw_runs(std::int64_t elements, std::int64_t count, std::int64_t length,
                      std::mt19937_64& random);

/// Overwrites runs of outputs by what could be results, so that a device cannot tell an output
/// that waits for a launch from one that a launch has left. A launch that does nothing leaves them
/// wrong; to find them takes reading the whole output.
class Decoys {
 public:
  /// `donors` are right results on other inputs, one for each rank; both must outlive it.
  Decoys(const OpInstance& op, const std::vector<HostTensor>& donors, std::mt19937_64& random)
      : op_(op), donors_(donors), random_(random) {}

  /// Lays decoys into the outputs of a set. Not for ops in place, whose output is their input.
  /// Returns the runs, which are the same in each rank.
  ElementRuns lay(TensorSet& tensors);

 private:
  void imitate(const HostTensor& donor, const ElementRuns& runs, std::span<std::byte> bytes);

  const OpInstance& op_;
  const std::vector<HostTensor>& donors_;
  std::mt19937_64& random_;
};

}  // namespace assay
