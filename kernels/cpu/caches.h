#pragma once

namespace assay::cpu {

/// Reads more than the caches hold, by all threads, so that nothing of what was in them is left.
/// Reads alone: what was written would have to leave the caches in the time of what comes next.
void evict_caches();

}  // namespace assay::cpu
