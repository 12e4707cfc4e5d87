#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::statistics {

/// How change points are sought.
struct EDivisiveOptions {
  double p = 0.01;         // a split is kept at or below
  int permutations = 999;  // behind each p: the least that it can be is 1 / (permutations + 1)
  /// The fewest values that a level lasts, at least 2. What is shorter is not found, and a change
  /// is seen when so many values of the new level are there.
  std::size_t smallest_segment = 5;
  int resamples = 999;  // behind each range
  std::uint64_t seed = 1;
};

/// A level ends before values[index], and another begins with it.
struct ChangePoint {
  std::size_t index = 0;
  /// 95% of where the split lands when both levels are resampled; index is within.
  std::size_t earliest = 0;
  std::size_t latest = 0;
  double p = 1;
};

/// The change points of a series in its order: E-divisive. Matteson and James: "A Nonparametric
/// Approach for Multiple Change Point Analysis of Multivariate Data", JASA 109, 2014, with exponent
/// alpha = 1 on the logarithms of the values, since changes of times are proportional: the unit of
/// the values makes no difference. Hierarchical: of the best splits of all segments the one with
/// the largest statistic is tested by permuting the values within the segments, and the search
/// ends with the first that is not significant. A series shorter than two smallest segments has
/// none. The same input gives the same answer on every machine.
///
/// Throws std::invalid_argument for a value that is not finite and positive, and for options that
/// are out of range.
std::vector<ChangePoint> e_divisive(std::span<const double> values,
                                    const EDivisiveOptions& options = {});

/// The split of `x` into [0, index) and [index, end) with the largest scaled energy statistic
/// (section 2.1 of the paper, equations 5 to 7). The second window may end before the series does:
/// or a level that comes back would hide both of its changes.
struct Split {
  std::size_t index = 0;
  std::size_t end = 0;
  double statistic = 0;
};

/// Takes O(n^2) time. Both windows have at least `smallest` >= 2 values; `x` has at least two such.
Split best_split(std::span<const double> x, std::size_t smallest);

}  // namespace assay::statistics
