#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case.h"

namespace assay {

/// A case that measures a limit. Of several cases of one limit the best counts.
struct LimitCase {
  std::string limit;  // as Limit::limit
  Case test;
};

/// Those of all limits of a device of this backend: large enough to leave its caches behind, and to
/// keep all of its units busy. `last_level_cache_bytes`: 0 where it is not known.
std::vector<LimitCase> limit_cases(std::string_view backend, std::int64_t last_level_cache_bytes);

}  // namespace assay
