#include "reports/machines/outliers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/unit/machines_support.h"

namespace assay {
namespace {

using namespace testing_support;

/// Twelve cases of two dtypes on `hosts` machines with 0.5% of noise. `factor` changes times.
class Fleets {
 public:
  using Factor = std::function<double(int host, int test, const std::string& device)>;

  Fleet make(int hosts, const std::vector<std::string>& devices, const Factor& factor) {
    std::vector<FleetRun> runs;
    for (int host = 0; host < hosts; ++host) {
      FleetRun& run = runs.emplace_back(FleetRun{fmt::format("n{:03}", host)});
      for (int test = 0; test < 12; ++test) {
        for (const std::string& device : devices) {
          const double s = (1 + test) * factor(host, test, device) * (1 + 0.005 * normal_(random_));
          run.timed(fmt::format("c{:02}", test), device, "H100", s, "", test < 6 ? "f16" : "f32");
        }
      }
    }
    return fleet_of(runs);
  }
  Fleet make(int hosts, const Factor& factor) { return make(hosts, {"cuda:0"}, factor); }

 private:
  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_;
};

std::vector<std::string> found(const Fleet& fleet, const OutlierRule& rule = {}) {
  std::vector<std::string> names;
  for (const ProductOutliers& product : find_outliers(fleet, rule)) {
    for (const OutlierTest& test : product.tests) {
      if (!test.is_outlier) continue;
      names.push_back(fmt::format("{} {} {} by {} {:.1f}", fleet.machines[test.machine].host,
                                  test.lane, test.dtype, fleet.cases[test.shown_by].case_id,
                                  test.shown_ratio));
    }
  }
  return names;
}

TEST(Outliers, AreNoneInNoise) {
  Fleets fleets;
  for (const int hosts : {5, 8, 50}) {
    EXPECT_TRUE(found(fleets.make(hosts, [](auto...) { return 1; })).empty()) << hosts;
  }
}

TEST(Outliers, AMachineThatIsSlowInOneDtypeIsFoundThere) {
  const Fleet fleet = Fleets().make(40, [](int host, int test, const std::string&) {
    if (host != 17 || test >= 6) return 1.0;
    return test == 3 ? 2.0 : 1.1;
  });
  EXPECT_EQ(found(fleet), (std::vector<std::string>{"n017 cuda:0 f16 by c03 2.0"}));
}

TEST(Outliers, ADeviceOfOneHostIsFoundAmongItsEight) {
  const std::vector<std::string> devices{"cuda:0", "cuda:1", "cuda:2", "cuda:3",
                                         "cuda:4", "cuda:5", "cuda:6", "cuda:7"};
  const Fleet fleet = Fleets().make(1, devices, [](int, int, const std::string& device) {
    return device == "cuda:5" ? 1.3 : 1.0;
  });
  const std::vector<std::string> names = found(fleet);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_TRUE(names[0].starts_with("n000 cuda:5")) << names[0];
}

TEST(Outliers, APairIsComparedWithTheSamePairOfOtherHosts) {
  const std::vector<std::string> pairs{"cuda:0>cuda:1", "cuda:0>cuda:2", "cuda:1>cuda:2"};
  const Fleet fleet = Fleets().make(12, pairs, [](int host, int, const std::string& pair) {
    const double path = pair == "cuda:0>cuda:2" ? 4 : 1;  // over the host in all machines
    return host == 3 && pair == "cuda:0>cuda:1" ? 2 * path : path;
  });
  const std::vector<std::string> names = found(fleet);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_TRUE(names[0].starts_with("n003 cuda:0>cuda:1")) << names[0];
}

TEST(Outliers, PairsOfOneHostAreComparedWithEachOther) {
  std::vector<std::string> pairs;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (i != j) pairs.push_back(fmt::format("cuda:{}>cuda:{}", i, j));
    }
  }
  const Fleet fleet = Fleets().make(1, pairs, [](int, int, const std::string& pair) {
    return pair == "cuda:2>cuda:1" ? 1.5 : 1.0;
  });
  const std::vector<std::string> names = found(fleet);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_TRUE(names[0].starts_with("n000 cuda:2>cuda:1")) << names[0];
}

TEST(Outliers, SmallDifferencesAreNone) {
  const auto factor = [](int host, int, const std::string&) { return host == 4 ? 1.04 : 1.0; };
  const Fleet fleet = Fleets().make(100, factor);
  EXPECT_EQ(found(fleet).size(), 2U);
  EXPECT_TRUE(found(fleet, {.margin = 0.05}).empty());
}

TEST(Outliers, OfFewDevicesNoneCanBeTold) {
  const auto factor = [](int host, int, const std::string&) { return host == 0 ? 9.0 : 1.0; };
  const std::vector<ProductOutliers> products = find_outliers(Fleets().make(4, factor), {});
  ASSERT_EQ(products.size(), 1U);
  EXPECT_EQ(products[0].units, 4U);
  EXPECT_TRUE(products[0].tests.empty());
}

TEST(Outliers, FewDoNotHideEachOther) {
  const Fleet fleet = Fleets().make(
      30, [](int host, int, const std::string&) { return host % 10 == 0 ? 1.5 : 1.0; });
  EXPECT_EQ(found(fleet).size(), 6U) << "three in two dtypes";
}

}  // namespace
}  // namespace assay
