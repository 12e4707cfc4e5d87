#pragma once

#include <cstdint>

#include "kernels/core/host_tensor.h"
#include "kernels/ops/op.h"

namespace assay::input {

/// Identifies a tensor of a launch. With the seed it fixes every element.
struct TensorKey {
  std::uint64_t seed = 1;
  int pass = 0;
  int rank = 0;
  int input = 0;
  /// False: rows of a product never repeat (harness/input/panel.h), as timed launches need them: a
  /// device could multiply only those that differ.
  bool may_repeat = true;
};

/// Fills `tensor` with the test data of `pass`. Element i depends on (key, i) alone: it is the same
/// on every device and at every thread count.
void generate(const OpInstance& op, const Pass& pass, const TensorKey& key, HostTensor& tensor);

}  // namespace assay::input
