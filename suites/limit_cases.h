#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

/// What a device leaves room for.
struct Room {
  std::int64_t last_level_cache_bytes = 0;  // 0: not known
  std::optional<std::int64_t> memory_bytes;
  std::function<bool(const OpInstance&)> is_too_slow;  // empty: nothing is
};

/// Returns the cases of all limits of a device of this backend; none if the backend declares no
/// sizes. Arrays are larger than the device's caches, but those of functions. The sizes are smaller
/// than those that the backend declares where the room demands it.
std::vector<LimitCase> limit_cases(const BackendTraits& backend, const Room& room);

/// Bytes of an array, and a product of square results with `depth` times as many terms, as far as
/// there is room.
std::int64_t array_bytes_for(const BackendTraits& backend, const Room& room);
Case product_for(Format format, std::int64_t extent, std::int64_t depth, const Room& room);

}  // namespace assay
