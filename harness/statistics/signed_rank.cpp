#include "harness/statistics/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace assay::statistics {
namespace {

void check(std::span<const double> differences) {
  if (differences.empty()) throw std::invalid_argument("no differences");
  if (!std::ranges::all_of(differences, [](double d) { return std::isfinite(d); })) {
    throw std::invalid_argument("a difference that is not finite");
  }
}

/// Twice the rank of each size: whole even where ties share a mean rank.
std::vector<std::size_t> doubled_ranks(const std::vector<double>& ascending_sizes) {
  std::vector<std::size_t> ranks(ascending_sizes.size());
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ascending_sizes[last + 1] == ascending_sizes[first]) ++last;
    std::fill(ranks.begin() + static_cast<std::ptrdiff_t>(first),
              ranks.begin() + static_cast<std::ptrdiff_t>(last) + 1, first + last + 2);
    first = last + 1;
  }
  return ranks;
}

/// Probability of each sum of a subset of `ranks`, all subsets being equally likely.
std::vector<double> subset_sums(const std::vector<std::size_t>& ranks) {
  std::vector<double> probability{1};
  for (const std::size_t rank : ranks) {
    probability.resize(probability.size() + rank);
    for (std::size_t sum = probability.size(); sum-- > 0;) {
      const double with_it = sum >= rank ? probability[sum - rank] : 0;
      probability[sum] = (probability[sum] + with_it) / 2;
    }
  }
  return probability;
}

std::vector<double> ascending_walsh_averages(std::span<const double> differences) {
  std::vector<double> averages;
  averages.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) {
      averages.push_back(std::midpoint(differences[i], differences[j]));
    }
  }
  std::ranges::sort(averages);
  return averages;
}

}  // namespace

double p_greater(std::span<const double> differences, double centre) {
  check(differences);
  if (!std::isfinite(centre)) throw std::invalid_argument("a centre that is not finite");
  std::vector<double> shifted;
  for (const double difference : differences) shifted.push_back(difference - centre);
  std::ranges::sort(shifted, {}, [](double d) { return std::abs(d); });
  std::vector<double> sizes;
  for (const double d : shifted) sizes.push_back(std::abs(d));
  const std::vector<std::size_t> all_ranks = doubled_ranks(sizes);

  std::vector<std::size_t> ranks;  // nonzero differences only
  std::size_t observed = 0;
  for (std::size_t i = 0; i < shifted.size(); ++i) {
    if (shifted[i] == 0) continue;
    ranks.push_back(all_ranks[i]);
    if (shifted[i] > 0) observed += all_ranks[i];
  }
  const std::vector<double> probability = subset_sums(ranks);
  double tail = 0;  // smallest terms first
  for (std::size_t sum = probability.size(); sum-- > observed;) tail += probability[sum];
  return std::min(1.0, tail);
}

int min_differences(double p) {
  if (!(p > 0)) throw std::invalid_argument("no number of differences reaches p = 0");
  return std::max(1, static_cast<int>(std::ceil(-std::log2(p))));
}

double hodges_lehmann(std::span<const double> differences) {
  check(differences);
  const std::vector<double> averages = ascending_walsh_averages(differences);
  const std::size_t half = averages.size() / 2;
  return averages.size() % 2 == 1 ? averages[half]
                                  : std::midpoint(averages[half - 1], averages[half]);
}

Interval signed_rank_interval(std::span<const double> differences, double confidence) {
  check(differences);
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 1; rank <= differences.size(); ++rank) ranks.push_back(rank);
  const std::vector<double> probability = subset_sums(ranks);
  // Largest cut with P(W <= cut) within one side's share; as many averages are dropped at each end.
  const double each_side = (1 - confidence) / 2;
  std::size_t cut = 0;
  double tail = probability[0];
  if (!(tail <= each_side)) {
    throw std::invalid_argument("too few differences for an interval of this confidence");
  }
  while (tail + probability[cut + 1] <= each_side) tail += probability[++cut];
  const std::vector<double> averages = ascending_walsh_averages(differences);
  return {averages[cut], averages[averages.size() - 1 - cut]};
}

}  // namespace assay::statistics
