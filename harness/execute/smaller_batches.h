#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/execute/checks.h"
#include "harness/execute/tensor_set.h"
#include "harness/placement/devices.h"
#include "kernels/core/host_tensor.h"
#include "kernels/ops/op.h"

// Batch invariance: whether a row keeps its bits when fewer rows are computed with it. Libraries
// choose another kernel, and with it another order of sums, for another batch.
namespace assay {

/// Numbers of rows at which a kernel may change: one, few, half, all but one. Ascending, each below
/// `rows`.
std::vector<std::int64_t> smaller_batches(std::int64_t rows);

struct SmallerBatches {
  std::vector<std::int64_t> launched;    // numbers of rows
  std::vector<std::int64_t> other_bits;  // those at which a row had other bits than in the whole
  std::string first_difference;          // "rows=1: [7]"; empty for none

  /// The numbers of `other_bits` as a cell: "1;16".
  std::string other_bits_text() const;
};

/// Launches the first rows of a case again as smaller problems of their own, and compares them with
/// the same rows of the verified output. Launches none if the op has no independent rows. Leaves
/// out sizes that the device does not support or has no memory for. Throws WrongResult if a launch
/// writes outside its outputs, and DeviceError.
SmallerBatches launch_smaller_batches(const OpInstance& op, std::span<placement::Place* const> lane,
                                      const RankInputs& inputs, const HostTensor& verified,
                                      const Checks& checks);

}  // namespace assay
