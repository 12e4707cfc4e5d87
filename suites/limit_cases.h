#pragma once

#include <cstdint>
#include <vector>

#include "harness/plan/case.h"
#include "harness/records/limit_kind.h"
#include "kernels/device/backend_traits.h"

namespace assay {

/// A case that measures a limit. If several cases measure one limit, the best counts.
struct LimitCase {
  LimitKind limit;
  Case test;
};

/// Returns the cases of all limits of a device of this backend; none if the backend declares no
/// sizes. Arrays are larger than the device's caches. `last_level_cache_bytes` is 0 if unknown.
std::vector<LimitCase> limit_cases(const BackendTraits& backend,
                                   std::int64_t last_level_cache_bytes);

}  // namespace assay
