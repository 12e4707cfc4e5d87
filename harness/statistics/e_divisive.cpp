#include "harness/statistics/e_divisive.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace assay::statistics {
namespace {

/// Engine that the standard fixes on all platforms, unlike std::shuffle and the distributions.
using Engine = std::mt19937_64;

/// Uniform in [0, n).
std::size_t below(Engine& engine, std::size_t n) {
  const std::uint64_t whole = std::numeric_limits<std::uint64_t>::max() / n * n;
  std::uint64_t draw = engine();
  while (draw >= whole) draw = engine();
  return static_cast<std::size_t>(draw % n);
}

void shuffle(std::span<double> values, Engine& engine) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[below(engine, i)]);
  }
}

/// Tables of k and 1 / k up to n: each pair of values has a window, so conversions and divisions
/// would take most of the time.
struct Sizes {
  explicit Sizes(std::size_t n) : count(n + 1, 0), inverse(n + 1, 0) {
    for (std::size_t k = 1; k <= n; ++k) {
      count[k] = static_cast<double>(k);
      inverse[k] = 1 / count[k];
    }
  }
  std::vector<double> count;
  std::vector<double> inverse;
};

/// Scaled statistic Q of two neighbouring windows of n and m values, from the sums of the distances
/// within each and within both together.
[[gnu::always_inline]] inline double scaled(std::size_t n, std::size_t m, double left, double right,
                                            double both, const double* count,
                                            const double* inverse) {
  return 2 * inverse[n + m] *
         (both - left - right - count[m] * inverse[n - 1] * left -
          count[n] * inverse[m - 1] * right);
}

/// Element i is the sum of the distances within [0, i).
std::vector<double> sums_within_prefixes(std::span<const double> x) {
  std::vector<double> sums(x.size() + 1, 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t j = 0; j < i; ++j) sum += std::abs(x[i] - x[j]);
    sums[i + 1] = sums[i] + sum;
  }
  return sums;
}

/// Best split whose second window ends with the series: between two known levels no third can hide
/// the change.
std::size_t best_index(const std::vector<double>& x, std::size_t smallest) {
  const std::size_t n = x.size();
  const Sizes sizes(n);
  const std::vector<double> left = sums_within_prefixes(x);
  const std::vector<double> right = sums_within_prefixes(std::vector<double>(x.rbegin(), x.rend()));
  double largest = -std::numeric_limits<double>::infinity();
  std::size_t index = smallest;
  for (std::size_t i = smallest; i + smallest <= n; ++i) {
    const double q =
        scaled(i, n - i, left[i], right[n - i], left[n], sizes.count.data(), sizes.inverse.data());
    if (q > largest) std::tie(largest, index) = std::pair(q, i);
  }
  return index;
}

class Search {
 public:
  Search(std::span<const double> values, const EDivisiveOptions& options)
      : options_(options), engine_(options.seed) {
    x_.reserve(values.size());
    for (const double value : values) {
      if (!(value > 0) || !std::isfinite(value)) {
        throw std::invalid_argument("change points need finite positive values");
      }
      x_.push_back(std::log(value));
    }
    add_segment(0, x_.size());
  }

  std::vector<ChangePoint> run() {
    std::vector<ChangePoint> found;
    for (;;) {
      const auto best = std::ranges::max_element(
          segments_, {}, [](const Segment& segment) { return segment.split.statistic; });
      if (best == segments_.end()) break;
      const double p = p_value(best->split.statistic);
      if (!(p <= options_.p)) break;
      const Segment parent = *best;
      const std::size_t at = parent.begin + parent.split.index;
      segments_.erase(best);
      add_segment(parent.begin, at);
      add_segment(at, parent.end);
      found.push_back({.index = at, .p = p});
    }
    std::ranges::sort(found, {}, &ChangePoint::index);
    for (std::size_t i = 0; i < found.size(); ++i) {
      add_range(i == 0 ? 0 : found[i - 1].index, found[i],
                i + 1 == found.size() ? x_.size() : found[i + 1].index);
    }
    return found;
  }

 private:
  struct Segment {
    std::size_t begin = 0;
    std::size_t end = 0;
    Split split;
  };

  /// Drops segments too short to split: their permutations have no statistic.
  void add_segment(std::size_t begin, std::size_t end) {
    if (end - begin < 2 * options_.smallest_segment) return;
    const std::span<const double> all(x_);
    segments_.push_back(
        {begin, end, best_split(all.subspan(begin, end - begin), options_.smallest_segment)});
  }

  bool permuted_reaches(double statistic) {
    return std::ranges::any_of(segments_, [&](const Segment& segment) {
      permuted_.assign(x_.begin() + static_cast<std::ptrdiff_t>(segment.begin),
                       x_.begin() + static_cast<std::ptrdiff_t>(segment.end));
      shuffle(permuted_, engine_);
      return best_split(permuted_, options_.smallest_segment).statistic >= statistic;
    });
  }

  /// Returns (reached + 1) / (permutations + 1), which is never too small: Phipson and Smyth, 2010.
  /// Stops early once p can no longer reach the limit, and returns a p above it.
  double p_value(double statistic) {
    const double same = statistic * (1 - 1e-9);  // sums in another order differ by their rounding
    const double all = options_.permutations + 1.0;
    int reached = 0;
    for (int i = 0; i < options_.permutations; ++i) {
      if (permuted_reaches(same)) ++reached;
      if (!((reached + 1) / all <= options_.p)) break;
    }
    return (reached + 1) / all;
  }

  void add_range(std::size_t begin, ChangePoint& change, std::size_t end) {
    const std::span<const double> left(&x_[begin], change.index - begin);
    const std::span<const double> right(&x_[change.index], end - change.index);
    std::vector<std::size_t> landed;
    for (int i = 0; i < options_.resamples; ++i) {
      permuted_.clear();
      for (const std::span<const double> level : {left, right}) {
        for (std::size_t k = 0; k < level.size(); ++k) {
          permuted_.push_back(level[below(engine_, level.size())]);
        }
      }
      landed.push_back(begin + best_index(permuted_, 2));
    }
    landed.push_back(change.index);
    std::ranges::sort(landed);
    const auto cut = static_cast<std::size_t>(0.025 * static_cast<double>(landed.size()));
    change.earliest = std::min(change.index, landed[cut]);
    change.latest = std::max(change.index, landed[landed.size() - 1 - cut]);
  }

  EDivisiveOptions options_;
  Engine engine_;
  std::vector<double> x_;
  std::vector<Segment> segments_;
  std::vector<double> permuted_;
};

void check(const EDivisiveOptions& options) {
  if (!(options.p > 0 && options.p < 1)) throw std::invalid_argument("p must be within 0 and 1");
  if (options.permutations < 1 || options.resamples < 1) {
    throw std::invalid_argument("permutations and resamples must be at least 1");
  }
  if (1 / (options.permutations + 1.0) > options.p) {
    throw std::invalid_argument("so few permutations never come down to p");
  }
  if (options.smallest_segment < 2) {
    throw std::invalid_argument("the smallest segment must have at least 2 values");
  }
}

}  // namespace

Split best_split(std::span<const double> x, std::size_t smallest) {
  const std::size_t n = x.size();
  const Sizes sizes(n);
  const double* const count = sizes.count.data();
  const double* const inverse = sizes.inverse.data();
  const std::vector<double> left = sums_within_prefixes(x);
  std::vector<double> to_next(n, 0);  // from x[i + length] to each of the `length` values before it
  std::vector<double> within(n, 0);   // sum over [i, i + length + 1)
  std::vector<double> q(n, 0);
  Split best{.statistic = -std::numeric_limits<double>::infinity()};
  // Computes all windows of one length side by side: no sum waits for another, and all terms are
  // positive.
  for (std::size_t length = 1; length < n; ++length) {
    const std::size_t windows = n - length;
#pragma omp simd
    for (std::size_t i = 0; i < windows; ++i) {
      to_next[i] = to_next[i + 1] + std::abs(x[i] - x[i + length]);
      within[i] += to_next[i];
    }
    if (length + 1 < smallest) continue;
    double largest = -std::numeric_limits<double>::infinity();
#pragma omp simd reduction(max : largest)
    for (std::size_t i = smallest; i < windows; ++i) {
      q[i] = scaled(i, length + 1, left[i], within[i], left[i + length + 1], count, inverse);
      largest = q[i] > largest ? q[i] : largest;
    }
    if (!(largest > best.statistic)) continue;
    const auto at = std::find(q.begin() + static_cast<std::ptrdiff_t>(smallest), q.end(), largest);
    const auto index = static_cast<std::size_t>(at - q.begin());
    best = {index, index + length + 1, largest};
  }
  return best;
}

std::vector<ChangePoint> e_divisive(std::span<const double> values,
                                    const EDivisiveOptions& options) {
  check(options);
  return Search(values, options).run();
}

}  // namespace assay::statistics
