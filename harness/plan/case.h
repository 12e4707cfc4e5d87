#pragma once

#include <string>
#include <string_view>

#include "kernels/ops/op.h"

namespace assay {

/// One parameter tuple of one suite, independent of the device.
struct Case {
  std::string suite;
  OpInstance op;
  /// True if a run measures it; false if it is too small to time and only checked.
  bool timed = true;
  /// False if, of a lane of two devices, it runs on the first pair alone.
  bool on_each_pair = true;

  /// Stable text: "tensor_ops/add/f32/n=1024". Leaves out an op with the suite's name:
  /// "linear/f32/batch=64,in=1024,out=1024,bias=1,act=none".
  std::string id() const;
};

/// Inverse of `Case::id()` for any parameters, in a profile or not. Throws UsageError. Does not
/// check that the suite exists and has that op.
Case parse_case_id(std::string_view id);

}  // namespace assay
