#include "harness/statistics/signed_rank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "harness/statistics/holm.h"

namespace assay::statistics {
namespace {

/// P(W+ >= observed) over all ways to give the sizes signs. Counts to find ranks, and treats zeros
/// and ties as the header says. Shares nothing with the code under test.
double enumerated_p_greater(const std::vector<double>& differences, double centre) {
  std::vector<double> d;
  for (const double x : differences) d.push_back(x - centre);
  std::vector<double> ranks;
  double observed = 0;
  for (const double x : d) {
    double rank = 0.5;
    for (const double other : d) {
      if (std::abs(other) < std::abs(x)) rank += 1;
      if (std::abs(other) == std::abs(x)) rank += 0.5;
    }
    if (x == 0) continue;
    ranks.push_back(rank);
    if (x > 0) observed += rank;
  }
  double at_least = 0;
  const std::uint64_t ways = std::uint64_t{1} << ranks.size();
  for (std::uint64_t signs = 0; signs < ways; ++signs) {
    double sum = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) sum += (signs >> i & 1) != 0 ? ranks[i] : 0;
    if (sum >= observed) at_least += 1;
  }
  return at_least / static_cast<double>(ways);
}

/// Returns sizes 1 to n without ties. Those of the given ranks are positive.
std::vector<double> with_positive_ranks(int n, const std::vector<int>& positive) {
  std::vector<double> d;
  for (int rank = 1; rank <= n; ++rank) {
    d.push_back(std::ranges::count(positive, rank) > 0 ? rank : -rank);
  }
  return d;
}

// Hollander, Wolfe, Chicken, table A.4: the upper tail of the null distribution, to three digits.
TEST(SignedRank, HasThePublishedTail) {
  struct Row {
    int n;
    std::vector<int> positive;
    double p;
  };
  for (const Row& row :
       {Row{3, {1, 2, 3}, 0.125}, Row{4, {1, 2, 3, 4}, 0.062}, Row{5, {1, 2, 3, 4, 5}, 0.031},
        Row{5, {2, 3, 4, 5}, 0.062}, Row{6, {2, 3, 4, 5, 6}, 0.031}, Row{7, {3, 4, 5, 6, 7}, 0.039},
        Row{8, {2, 4, 5, 6, 7, 8}, 0.027}, Row{10, {3, 4, 5, 6, 7, 9, 10}, 0.053}}) {
    EXPECT_NEAR(p_greater(with_positive_ranks(row.n, row.positive), 0), row.p, 0.00051) << row.n;
  }
}

// Critical values of the one-sided test at 5%, 2.5%, 1% and 0.5%: the largest sum of negative ranks
// that is significant (McCornack, JASA 60, 1965).
TEST(SignedRank, HasThePublishedCriticalValues) {
  struct Row {
    int n;
    int at_5, at_2_5, at_1, at_0_5;
  };
  const auto critical = [](int n, double level) {
    int largest = -1;
    for (int sum = 0; sum <= n * (n + 1) / 2; ++sum) {
      std::vector<int> negative;  // ranks that add up to `sum`, greedily
      int left = sum;
      for (int rank = n; rank >= 1; --rank) {
        if (rank > left) continue;
        negative.push_back(rank);
        left -= rank;
      }
      std::vector<double> d;
      for (int rank = 1; rank <= n; ++rank) {
        d.push_back(std::ranges::count(negative, rank) > 0 ? -rank : rank);
      }
      if (p_greater(d, 0) > level) break;
      largest = sum;
    }
    return largest;
  };
  for (const Row& row : {Row{10, 10, 8, 5, 3}, Row{15, 30, 25, 19, 15}, Row{20, 60, 52, 43, 37},
                         Row{25, 100, 89, 76, 68}, Row{30, 151, 137, 120, 109},
                         Row{40, 286, 264, 238, 220}, Row{50, 466, 434, 397, 373}}) {
    EXPECT_EQ(critical(row.n, 0.05), row.at_5) << row.n;
    EXPECT_EQ(critical(row.n, 0.025), row.at_2_5) << row.n;
    EXPECT_EQ(critical(row.n, 0.01), row.at_1) << row.n;
    EXPECT_EQ(critical(row.n, 0.005), row.at_0_5) << row.n;
  }
}

TEST(SignedRank, AgreesWithEnumerationWhateverTiesAndZerosThereAre) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 1 + random() % 12;
    const int values = 1 + static_cast<int>(random() % 9);  // few values: many ties and zeros
    std::vector<double> d(n);
    for (double& x : d) x = static_cast<double>(random() % (2 * values + 1)) - values;
    const double centre = static_cast<double>(random() % 3) / 2;
    EXPECT_NEAR(p_greater(d, centre), enumerated_p_greater(d, centre), 1e-12) << round;
  }
}

TEST(SignedRank, OfNothingButZerosShowsNothing) {
  EXPECT_EQ(p_greater(std::vector<double>(10, 0.0), 0), 1);
  EXPECT_EQ(p_greater(std::vector<double>(10, 0.3), 0.3), 1);
}

TEST(SignedRank, NeedsSoManyDifferences) {
  EXPECT_EQ(min_differences(0.15), 3);
  EXPECT_EQ(min_differences(0.05), 5);
  EXPECT_EQ(min_differences(0.5), 1);
  for (const double p : {0.3, 0.15, 0.05, 0.01, 0.05 / 30}) {
    const auto n = static_cast<std::size_t>(min_differences(p));
    EXPECT_LE(p_greater(std::vector<double>(n, 1.0), 0), p);
    if (n > 1) {
      EXPECT_GT(p_greater(std::vector<double>(n - 1, 1.0), 0), p);
    }
  }
  EXPECT_THROW(min_differences(0), std::invalid_argument);
}

TEST(SignedRank, RefusesWhatIsNoSetOfDifferences) {
  const std::vector<double> none;
  const std::vector<double> nan{1, std::nan(""), 2};
  const std::vector<double> infinite{1, std::numeric_limits<double>::infinity()};
  for (const auto& d : {none, nan, infinite}) {
    EXPECT_THROW(p_greater(d, 0), std::invalid_argument);
    EXPECT_THROW(hodges_lehmann(d), std::invalid_argument);
    EXPECT_THROW(signed_rank_interval(d), std::invalid_argument);
  }
  EXPECT_THROW(p_greater(std::vector{1.0, 2.0}, std::nan("")), std::invalid_argument);
}

// Hollander, Wolfe, Chicken, example 3.1, 3.3 and 3.4: Hamilton depression scale factors of nine
// patients before and after a tranquilizer.
const std::vector<double> depression{-0.952, 0.147,  -1.022, -0.430, -0.620,
                                     -0.590, -0.490, 0.080,  -0.010};

TEST(HodgesLehmann, IsThatOfThePublishedExample) {
  EXPECT_NEAR(hodges_lehmann(depression), -0.46, 1e-9);
  std::vector<double> fell;
  for (const double d : depression) fell.push_back(-d);
  EXPECT_NEAR(p_greater(fell, 0), 0.020, 0.0005);
}

TEST(SignedRankInterval, IsThatOfThePublishedExample) {
  const Interval interval = signed_rank_interval(depression, 0.96);
  EXPECT_NEAR(interval.low, -0.786, 1e-9);
  EXPECT_NEAR(interval.high, -0.010, 1e-9);
}

TEST(SignedRankInterval, HoldsTheCentresThatNoTestRejects) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise;
  for (std::size_t n = 6; n <= 14; ++n) {
    std::vector<double> d(n);
    for (double& x : d) x = noise(random);
    const Interval interval = signed_rank_interval(d, 0.95);
    std::vector<double> mirrored;
    for (const double x : d) mirrored.push_back(-x);
    const auto p_two_sided = [&](double centre) {
      return 2 * std::min(p_greater(d, centre), p_greater(mirrored, -centre));
    };
    const double hair = 1e-9;
    EXPECT_GT(p_two_sided(interval.low + hair), 0.05) << n;
    EXPECT_LE(p_two_sided(interval.low - hair), 0.05) << n;
    EXPECT_GT(p_two_sided(interval.high - hair), 0.05) << n;
    EXPECT_LE(p_two_sided(interval.high + hair), 0.05) << n;
    EXPECT_LE(interval.low, hodges_lehmann(d));
    EXPECT_GE(interval.high, hodges_lehmann(d));
  }
}

TEST(SignedRankInterval, WantsSixDifferencesFor95Percent) {
  EXPECT_THROW(signed_rank_interval(std::vector<double>{1, 2, 3, 4, 5}), std::invalid_argument);
  const Interval whole = signed_rank_interval(std::vector<double>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(whole.low, 1);
  EXPECT_EQ(whole.high, 6);
}

// Aickin, Gensler: "Adjusting for multiple testing", AJPH 86, 1996; by hand.
TEST(Holm, AdjustsByTheNumberStillTested) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const std::vector<double> adjusted = holm(p);
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-12);
}

TEST(Holm, IsNeverAboveOneAndLeavesASinglePAlone) {
  EXPECT_TRUE(holm({}).empty());
  EXPECT_EQ(holm(std::vector<double>{0.2}), std::vector<double>{0.2});
  for (const double p : holm(std::vector<double>{0.9, 0.6, 0.7})) EXPECT_EQ(p, 1);
}

}  // namespace
}  // namespace assay::statistics
