#pragma once

#include <optional>
#include <string>

#include "session/ab/ab_options.h"
#include "session/ab/ab_sides.h"
#include "session/ab/layout_spread.h"

namespace assay {

/// A smaller change of a time is none.
struct Margin {
  double value = 0;  // 0.02: 2%
  std::string reason;
};

/// Returns the margin of the options, else what layout alone may change, on this machine where it
/// was recorded.
Margin margin_of(const AbOptions& options, const ab::Both<AbSide>& sides,
                 const std::optional<LayoutSpread>& recorded);

}  // namespace assay
