#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/worth_a_fork.h"

namespace assay {

/// Calls `body(first, count)` for runs of at most `grain` of n things that cover [0, n), on all
/// OpenMP threads where they are `work` enough. `body` must not throw. For workers only: the parent
/// process stays free of OpenMP.
template <class Body>
void parallel_runs(std::int64_t n, std::int64_t grain, std::int64_t work, const Body& body) {
  const std::int64_t runs = (n + grain - 1) / grain;
#pragma omp parallel for schedule(static) if (runs > 1 && work > worth_a_fork())
  for (std::int64_t run = 0; run < runs; ++run) {
    const std::int64_t first = run * grain;
    body(first, std::min(grain, n - first));
  }
}
/// The same, of n elements.
template <class Body>
void parallel_runs(std::int64_t n, std::int64_t grain, const Body& body) {
  parallel_runs(n, grain, n, body);
}

}  // namespace assay
