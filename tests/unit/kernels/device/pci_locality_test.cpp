#include "kernels/device/pci_locality.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace assay {
namespace {

class PciLocality : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(devices_);
    std::filesystem::create_directories(devices_ / "0000:3b:00.0");
  }
  void TearDown() override { std::filesystem::remove_all(devices_); }
  void write(const char* file, const char* text) const {
    std::ofstream(devices_ / "0000:3b:00.0" / file) << text << "\n";
  }

  std::filesystem::path devices_ = std::filesystem::path(testing::TempDir()) /
                                   testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(PciLocality, IsWhatTheKernelSays) {
  write("local_cpulist", "0-15,32-47");
  write("numa_node", "1");
  const auto found = locality_of("0000:3B:00.0", devices_);
  EXPECT_EQ(found.processors, "0-15,32-47");
  EXPECT_EQ(found.numa_node, 1);
}

TEST_F(PciLocality, HasNoNodeWhereTheMachineHasNone) {
  write("local_cpulist", "0-3");
  write("numa_node", "-1");
  const auto found = locality_of("0000:3b:00.0", devices_);
  EXPECT_EQ(found.processors, "0-3");
  EXPECT_FALSE(found.numa_node.has_value());
}

TEST_F(PciLocality, IsEmptyForADeviceThatIsNotThere) {
  const auto found = locality_of("0000:01:00.0", devices_);
  EXPECT_EQ(found.processors, "");
  EXPECT_FALSE(found.numa_node.has_value());
}

TEST_F(PciLocality, AcceleratorsAreDisplaysAndProcessingAccelerators) {
  write("class", "0x030200");
  for (const auto& [device, code] :
       {std::pair("0000:5e:00.0", "0x120000"), std::pair("0000:01:00.0", "0x010802"),
        std::pair("0000:02:00.0", "0x060400")}) {
    std::filesystem::create_directories(devices_ / device);
    std::ofstream(devices_ / device / "class") << code << "\n";
  }
  EXPECT_EQ(accelerators(devices_), 2);
  EXPECT_EQ(accelerators(devices_ / "nonesuch"), 0);
}

}  // namespace
}  // namespace assay
