#pragma once

#include <cstdint>

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

}  // namespace assay::input
