#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::statistics {

/// Options of the search for change points.
struct EDivisiveOptions {
  double p = 0.01;         // largest p at which a split is kept
  int permutations = 999;  // for each p, which is at least 1 / (permutations + 1)
  /// Fewest values of a level, at least 2. Shorter levels are not found. A change shows once the
  /// new level has this many values.
  std::size_t smallest_segment = 5;
  int resamples = 999;  // for each range
  std::uint64_t seed = 1;
};

/// A level ends before values[index], and another begins with it.
struct ChangePoint {
  std::size_t index = 0;
  /// 95% range of the split when both levels are resampled. Contains index.
  std::size_t earliest = 0;
  std::size_t latest = 0;
  double p = 1;
};

/// Change points of a series in its order, by E-divisive. Matteson and James: "A Nonparametric
/// Approach for Multiple Change Point Analysis of Multivariate Data", JASA 109, 2014, with exponent
/// alpha = 1. It works on the logarithms of the values, since times change proportionally: their
/// unit makes no difference. Hierarchical: tests the best split of all segments with the largest
/// statistic by permuting the values within the segments, and ends at the first that is not
/// significant. A series shorter than two smallest segments has none. Gives the same answer on
/// every machine.
///
/// Throws std::invalid_argument for a value that is not finite and positive, and for options out of
/// range.
std::vector<ChangePoint> e_divisive(std::span<const double> values,
                                    const EDivisiveOptions& options = {});

/// Split of a series into [0, index) and [index, end) with the largest scaled energy statistic
/// (section 2.1 of the paper, equations 5 to 7). The second window may end before the series does,
/// or a level that comes back would hide both of its changes.
struct Split {
  std::size_t index = 0;
  std::size_t end = 0;
  double statistic = 0;
};

/// Takes O(n^2) time. Both windows have at least `smallest` >= 2 values; `x` has at least two such.
Split best_split(std::span<const double> x, std::size_t smallest);

}  // namespace assay::statistics
