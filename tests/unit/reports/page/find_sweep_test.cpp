#include "reports/page/find_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::page {
namespace {

std::vector<Sizes> batches(int count, const std::string& in) {
  std::vector<Sizes> trials;
  for (int i = 0; i < count; ++i) trials.push_back({{"batch", std::to_string(1 << i)}, {"in", in}});
  return trials;
}

TEST(FindSweep, TakesTheTrialsInWhichOneSizeChanges) {
  std::vector<Sizes> trials{{{"batch", "4096"}, {"in", "1024"}}};
  for (const Sizes& one : batches(6, "2048")) trials.push_back(one);
  trials.push_back({{"batch", "16"}, {"in", "3"}});
  std::vector<std::size_t> sweep = find_sweep(trials);
  std::ranges::sort(sweep);
  EXPECT_EQ(sweep, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6}));
}

TEST(FindSweep, FewSizesAreNone) {
  EXPECT_TRUE(find_sweep(batches(4, "2048")).empty());
  EXPECT_EQ(find_sweep(batches(5, "2048")).size(), 5U);
  EXPECT_TRUE(find_sweep({}).empty());
}

TEST(FindSweep, OneTrialOfEachSizeIsEnough) {
  std::vector<Sizes> trials = batches(5, "2048");
  trials.push_back(trials.front());
  EXPECT_EQ(find_sweep(trials).size(), 5U);
}

}  // namespace
}  // namespace assay::page
