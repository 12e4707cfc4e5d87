#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/core/dtype.h"

// What libraries are known to give that is not what their op is defined as. Everything else that
// differs is wrong; so is a deviation that is no longer seen. docs/deviations.md lists them.
namespace assay {

struct Deviation {
  /// Where it shows.
  enum class Where {
    expected_nan,        // where the result should be NaN
    argument_is,         // of elementwise ops: where input 0 is `argument`; NaN stands for any NaN
    argument_subnormal,  // of elementwise ops: where input 0 is a subnormal number of its dtype
    /// Of a min or max over ranks: where some ranks hold NaN and others a number. Given is the
    /// least, or greatest, of the numbers, a zero with either sign.
    nan_beside_numbers,
  };

  std::string_view id;       // in the column `reason`: "onednn-relu-nan"
  std::string_view library;  // with which a kernel's implementation() begins: "oneDNN"
  /// Versions from `from` on and before `before`, by the first number in implementation(): "2.6.3".
  /// Empty: from the first, up to the latest.
  std::string_view from;
  std::string_view before;
  std::string_view op;
  std::string_view reduce;  // of collectives; empty: any
  std::vector<DType> dtypes;
  Where where = Where::expected_nan;
  double argument = 0;
  /// What is given there, exactly, unless `where` says it; NaN stands for any NaN.
  double value = 0;
  std::string_view source;
};

/// The one table of them.
std::span<const Deviation> declared_deviations();

}  // namespace assay
