#pragma once

#include <cstdint>
#include <optional>

namespace assay::cpu {

/// Of all last-level caches of the machine together, as far as the system tells: threads on all
/// cores fill them all.
std::optional<std::int64_t> last_level_cache_bytes();

/// Whether tensors of so many bytes are gone from this machine's share of the caches when the last
/// of them is written.
bool exceeds_caches(std::int64_t bytes);

/// Reads more than the caches hold, by all threads, so that nothing of what was in them is left.
/// Reads alone: what was written would have to leave the caches in the time of what comes next.
void evict_caches();

}  // namespace assay::cpu
