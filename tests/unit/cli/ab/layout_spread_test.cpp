#include "cli/ab/layout_spread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

PairedCase with_verdict(PairedVerdict verdict, double ratio) {
  PairedCase one;
  one.verdict = verdict;
  one.ratio = ratio;
  return one;
}

TEST(LayoutSpread, IsTheLargestDifferenceThatIsShown) {
  using enum PairedVerdict;
  EXPECT_FALSE(spread_of({}));
  EXPECT_FALSE(spread_of(std::vector{PairedCase{}})) << "no case has times";
  EXPECT_EQ(spread_of(std::vector{with_verdict(inconclusive, 1.3), with_verdict(equivalent, 1.01)}),
            0);
  EXPECT_NEAR(*spread_of(std::vector{with_verdict(regressed, 1.03), with_verdict(regressed, 1.05),
                                     with_verdict(inconclusive, 1.2)}),
              0.05, 1e-12);
  EXPECT_NEAR(*spread_of(std::vector{with_verdict(improved, 0.8)}), 0.25, 1e-12)
      << "as a part of the faster one";
}

class RecordedSpread : public testing::Test {
 protected:
  RecordedSpread() { setenv("XDG_STATE_HOME", folder_.c_str(), 1); }
  ~RecordedSpread() override {
    unsetenv("XDG_STATE_HOME");
    fs::remove_all(folder_);
  }
  static DeviceInfo device(const std::string& name) {
    DeviceInfo info;
    info.name = name;
    return info;
  }

  fs::path folder_ = fs::temp_directory_path() / ("assay-spread-" + std::to_string(getpid()));
  std::vector<DeviceInfo> cpu_{device("a CPU")};
};

TEST_F(RecordedSpread, IsOfOneHostAndItsDevices) {
  EXPECT_FALSE(recorded_spread("host", cpu_));
  record_spread("host", cpu_, {0.03, "monday"});
  ASSERT_TRUE(recorded_spread("host", cpu_));
  EXPECT_EQ(recorded_spread("host", cpu_)->spread, 0.03);
  EXPECT_EQ(recorded_spread("host", cpu_)->recorded_at, "monday");
  EXPECT_FALSE(recorded_spread("another", cpu_));
  EXPECT_FALSE(recorded_spread("host", std::vector{device("another CPU")}));
  record_spread("another", cpu_, {0.01, "tuesday"});
  EXPECT_EQ(recorded_spread("host", cpu_)->spread, 0.03) << "one host's leaves the other's alone";
}

TEST_F(RecordedSpread, OnlyGrows) {
  record_spread("host", cpu_, {0.03, "monday"});
  const std::string told = record_spread("host", cpu_, {0.01, "tuesday"});
  EXPECT_EQ(recorded_spread("host", cpu_)->spread, 0.03);
  EXPECT_NE(told.find("3% of monday stays"), std::string::npos) << told;
  record_spread("host", cpu_, {0.08, "wednesday"});
  EXPECT_EQ(recorded_spread("host", cpu_)->spread, 0.08);
}

TEST_F(RecordedSpread, IsNoneWhereTheFileIsDamaged) {
  record_spread("host", cpu_, {0.03, "monday"});
  for (const char* text :
       {"", "[]", "{", R"({"host | a CPU":7})", R"({"host | a CPU":{"spread":"much"}})",
        R"({"host | a CPU":{"spread":-1}})",
        R"({"host | a CPU":{"spread":0.1,"recorded_at":7}})"}) {
    std::ofstream(folder_ / "assay/layout-spread.json") << text;
    EXPECT_FALSE(recorded_spread("host", cpu_)) << text;
  }
  record_spread("host", cpu_, {0.04, "tuesday"});
  EXPECT_EQ(recorded_spread("host", cpu_)->spread, 0.04);
}

TEST_F(RecordedSpread, SaysWhyItIsNotRecorded) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "assay") << "a file where the folder should be";
  const std::string told = record_spread("host", cpu_, {0.03, "monday"});
  EXPECT_NE(told.find("not recorded"), std::string::npos) << told;
}

}  // namespace
}  // namespace assay::cli
