#include "session/ab/layout_spread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kernels/core/status.h"

namespace assay {
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

DeviceInfo device(const std::string& name) {
  DeviceInfo info;
  info.name = name;
  return info;
}

TEST(LayoutSpread, IsOfAHostAndItsProcessorsInAnyOrder) {
  const std::string machine = machine_of("host", std::vector{device("a GPU"), device("a CPU")});
  EXPECT_EQ(machine_of("host", std::vector{device("a CPU"), device("a GPU"), device("a GPU")}),
            machine);
  EXPECT_NE(machine_of("host", std::vector{device("a CPU")}), machine);
  EXPECT_NE(machine_of("other", std::vector{device("a CPU"), device("a GPU")}), machine);
}

class SpreadFile : public testing::Test {
 protected:
  ~SpreadFile() override { fs::remove(path_); }
  std::string refusal(const std::string& text) {
    std::ofstream(path_) << text;
    try {
      read_spread(path_, "host | a CPU");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path path_ = fs::temp_directory_path() / ("assay-spread-" + std::to_string(getpid()));
};

TEST_F(SpreadFile, IsReadAsItWasWritten) {
  const std::string text = spread_text({0.03, "monday"}, "host | a CPU");
  EXPECT_TRUE(text.starts_with(spread_begin)) << text;
  EXPECT_EQ(refusal(text), "no error");
  const LayoutSpread read = read_spread(path_, "host | a CPU");
  EXPECT_EQ(read.spread, 0.03);
  EXPECT_EQ(read.recorded_at, "monday");
}

TEST_F(SpreadFile, IsRefusedWhereItIsOfAnotherMachineOrNone) {
  EXPECT_THROW(read_spread(path_ / "absent", "host"), UsageError);
  EXPECT_NE(refusal(spread_text({0.03, "monday"}, "other | a CPU"))
                .find("of another machine, 'other | a CPU'; this one is 'host | a CPU'"),
            std::string::npos);
  for (const char* text :
       {"", "{", "[]", "7", "{}", R"({"layout_spread":0.1,"machine":"host | a CPU"})",
        R"({"layout_spread":"much","machine":"host | a CPU","recorded_at":"monday"})",
        R"({"layout_spread":-1,"machine":"host | a CPU","recorded_at":"monday"})",
        R"({"layout_spread":0.1,"machine":7,"recorded_at":"monday"})"}) {
    EXPECT_TRUE(refusal(text).starts_with("--spread ")) << text;
  }
}

}  // namespace
}  // namespace assay
