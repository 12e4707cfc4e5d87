#include "kernels/cpu/rapl.h"

#include <gtest/gtest.h>

#include <fstream>

namespace assay::cpu {
namespace {

namespace fs = std::filesystem;

/// A folder like /sys/class/powercap.
class RaplFolder : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& domain, const std::string& name, long microjoules) {
    fs::create_directories(folder_ / domain);
    std::ofstream(folder_ / domain / "name") << name << "\n";
    std::ofstream(folder_ / domain / "max_energy_range_uj") << 1'000'000'000L << "\n";
    std::ofstream(folder_ / domain / "energy_uj") << microjoules << "\n";
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(RaplFolder, PackagesAreAddedAndPartsAreNotCountedTwice) {
  write("intel-rapl:0", "package-0", 5'000'000);
  write("intel-rapl:0:0", "dram", 1'000'000);
  write("intel-rapl:1", "package-1", 9'000'000);
  write("intel-rapl:2", "psys", 50'000'000);
  Rapl rapl(folder_);
  EXPECT_EQ(rapl.joules(), 0);
  write("intel-rapl:0", "package-0", 7'500'000);
  write("intel-rapl:1", "package-1", 10'000'000);
  write("intel-rapl:0:0", "dram", 2'000'000);
  write("intel-rapl:2", "psys", 90'000'000);
  EXPECT_NEAR(rapl.joules().value_or(0), 3.5, 1e-9);
}

TEST_F(RaplFolder, ACounterThatWrapsGoesOn) {
  write("intel-rapl:0", "package-0", 999'000'000);
  Rapl rapl(folder_);
  EXPECT_EQ(rapl.joules(), 0);
  write("intel-rapl:0", "package-0", 2'000'000);
  EXPECT_NEAR(rapl.joules().value_or(0), 3, 1e-9);
}

TEST_F(RaplFolder, WithoutACounterNothingIsTold) {
  EXPECT_FALSE(Rapl(folder_).joules());
  write("intel-rapl:0", "package-0", 5);
  fs::remove(folder_ / "intel-rapl:0" / "energy_uj");
  EXPECT_FALSE(Rapl(folder_).joules()) << "as for a reader who is not root";
}

}  // namespace
}  // namespace assay::cpu
