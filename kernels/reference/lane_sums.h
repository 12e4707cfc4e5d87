#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/core/worth_a_fork.h"
#include "kernels/reference/exact_sum.h"

// Sums of many terms in twice the precision of double, several terms at once.
namespace assay::reference {

/// Loops over lanes are marked `simd`: without that GCC unrolls them and leaves single lanes out of
/// the vectors.
constexpr std::size_t lanes = 8;

/// Running sums (exact_sum.h), one in each lane: a vector unit does the same step in all of them.
struct LaneSums {
  std::array<double, lanes> value{};
  std::array<double, lanes> rest{};
  std::array<double, lanes> magnitude{};

  void add(std::size_t lane, double term) {
    double error = 0;
    two_sum(value[lane], term, value[lane], error);
    rest[lane] += error;
    magnitude[lane] += std::abs(term);
  }
  void add_product(std::size_t lane, double a, double b) {
    const double product = a * b;
    rest[lane] += std::fma(a, b, -product);
    add(lane, product);
  }
};

/// Sum of lanes, and of the magnitudes of their terms.
struct Total {
  ExactSum sum;
  double magnitude = 0;

  void add(const LaneSums& sums) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sum.add(ExactSum(sums.value[lane], sums.rest[lane]));
      magnitude += sums.magnitude[lane];
    }
  }
  long double value() const { return static_cast<long double>(sum.value()) + sum.rest(); }
};

/// Sum over n elements: of what `sums(first, count)` returns for blocks that threads share. The
/// blocks do not depend on the number of threads.
template <class All, class Sums>
All over_blocks(std::size_t n, const Sums& sums) {
  constexpr std::size_t block = 1 << 15;
  All all;
  if (n <= block) {  // without a team, or memory, for each of many short lines
    all.add(sums(0, n));
    return all;
  }
  std::vector<std::invoke_result_t<Sums, std::size_t, std::size_t>> blocks((n + block - 1) / block);
#pragma omp parallel for schedule(static) if (static_cast <std::int64_t>(n) > worth_a_fork())
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b] = sums(b * block, std::min(block, n - b * block));
  }
  for (const auto& one : blocks) all.add(one);
  return all;
}

}  // namespace assay::reference
