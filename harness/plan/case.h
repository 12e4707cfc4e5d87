#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops/op.h"

namespace assay {

/// One parameter tuple of one suite, independent of the device.
struct Case {
  std::string suite;
  OpInstance op;
  /// Whether a run measures it, or, where it is too small to be worth that, only checks it.
  bool timed = true;

  /// Stable text: "tensor_ops/add/f32/n=1024". The op is left out where it is the suite's name:
  /// "linear/f32/batch=64,in=1024,out=1024,bias=1,act=none".
  std::string id() const;
};

/// Every op that a case may have: those that devices have kernels of, then the scenarios of the
/// placement layer.
std::vector<const Op*> case_ops();
/// Null when there is none of that name.
const Op* find_case_op(std::string_view name);

/// The inverse of `Case::id()` for any parameters, in a profile or not. Throws UsageError. Whether
/// the suite exists, and has that op, is for the suites to say.
Case parse_case_id(std::string_view id);

}  // namespace assay
