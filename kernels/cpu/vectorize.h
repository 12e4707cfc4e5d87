#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "kernels/core/vector_clones.h"

// Marks a loop in which no iteration reads what another one writes.
#if defined(__clang__)
#define ASSAY_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ASSAY_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

namespace assay::cpu {

/// Below this many bytes a fork and join of threads (1 to 2 us) costs more than it saves.
inline constexpr std::int64_t parallel_bytes = 128 << 10;

/// Calls `body(thread, first, count)` with one contiguous block of [0, n) for each thread that has
/// any: `count` is above 0, and an empty range has no call. Blocks of elements smaller than a cache
/// line begin at multiples of 64, so that no two threads write to one line.
template <class Body>
void parallel_blocks(std::int64_t n, std::int64_t element_bytes, const Body& body) {
  // Not by an `if` clause, which still sets up a team of one: 0.3 us.
  if (n * element_bytes <= parallel_bytes) {
    if (n > 0) body(std::int64_t{0}, std::int64_t{0}, n);
    return;
  }
#pragma omp parallel
  {
    const std::int64_t threads = omp_get_num_threads();
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t unit = element_bytes < 64 ? 64 : 1;
    const std::int64_t block = ((n + threads - 1) / threads + unit - 1) / unit * unit;
    const std::int64_t first = std::min(n, thread * block);
    if (first < n) body(thread, first, std::min(block, n - first));
  }
}

}  // namespace assay::cpu
