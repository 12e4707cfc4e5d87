#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/device/backend_traits.h"

namespace assay {

/// A case that measures a limit. Of several cases of one limit the best counts.
struct LimitCase {
  std::string limit;  // as Limit::limit
  Case test;
};

/// Those of all limits of a device of this backend; none where the backend tells no sizes. Arrays
/// are larger than the device's caches. `last_level_cache_bytes`: 0 where it is not known.
std::vector<LimitCase> limit_cases(const BackendTraits& backend,
                                   std::int64_t last_level_cache_bytes);

}  // namespace assay
