#pragma once

#include <cstdint>
#include <optional>

namespace assay::cpu {

/// Returns the bytes of the last level of caches that this process's threads fill (topology.h).
/// None if only the first is reported.
std::optional<std::int64_t> last_level_cache_bytes();

/// Returns true if tensors of `bytes` in total exceed this machine's share of the caches: their
/// data are evicted by the time the last of them is written.
bool exceeds_caches(std::int64_t bytes);

/// Reads more than the caches hold, on all threads, which evicts their contents. Does not write:
/// dirty lines would be written back during the work that follows.
void evict_caches();

}  // namespace assay::cpu
