#pragma once

#include <limits>

namespace assay {

/// Compulsory bytes of cases that are to exceed the caches of the selected devices. A case whose
/// size grows is doubled until it has the least, unless it would then have more than the most. One
/// for all devices of a run, which get the same cases and can be compared.
struct Growth {
  double min_bytes = 0;
  double max_bytes = std::numeric_limits<double>::infinity();
};

}  // namespace assay
