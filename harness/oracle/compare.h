#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/oracle/run_elements.h"
#include "harness/oracle/tolerance.h"
#include "harness/oracle/verdict.h"
#include "kernels/reference/reference.h"

namespace assay::oracle {

/// Judges every element of one rank's output against the reference. `actual` is the whole output in
/// the op's dtype. A comparison with NaN never passes, unless NaN is expected. Sets
/// `reference_share` to the share, 0 to 1, of the threads' time that computed expected values.
Verdict compare(const reference::Reference& expected, const reference::Problem& problem,
                std::span<const double> state, const Tolerance& tolerance,
                std::span<const std::byte> actual, int rank, double* reference_share = nullptr);

/// Judges a part of one rank's output: `actual` holds whole elements from `first` on, at most
/// run_elements.
Verdict compare_run(const reference::Reference& expected, const reference::Problem& problem,
                    std::span<const double> state, const Tolerance& tolerance,
                    std::span<const std::byte> actual, int rank, std::int64_t first);

}  // namespace assay::oracle
