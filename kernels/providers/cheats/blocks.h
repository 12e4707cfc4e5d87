#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace assay::cheats {

inline thread_local bool is_alone = false;

/// Calls body(thread, first, last) with a block of [0, n) for each thread; with one block for few
/// elements. Blocks begin at multiples of 64. Returns the number of blocks.
template <class Body>
int in_blocks(std::int64_t n, const Body& body) {
  constexpr std::int64_t few = 1 << 18;
  if (n <= few || is_alone) {
    body(0, std::int64_t{0}, n);
    return 1;
  }
  int blocks = 1;
#pragma omp parallel
  {
    const std::int64_t threads = omp_get_num_threads();
    const int thread = omp_get_thread_num();
    if (thread == 0) blocks = static_cast<int>(threads);
    const std::int64_t block = ((n + threads - 1) / threads + 63) / 64 * 64;
    const std::int64_t first = std::min(n, thread * block);
    body(thread, first, std::min(n, first + block));
  }
  return blocks;
}

constexpr int max_threads = 1024;

}  // namespace assay::cheats
