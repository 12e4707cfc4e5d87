#include "cli/soak_flags.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/core/status.h"

namespace assay::cli {
namespace {

TEST(SoakOptions, AreReadBackFromACommandLine) {
  const SoakOptions options =
      parse_soak_options({"assay", "soak", "--for", "8h", "--device", "cpu,cuda:1", "--interval",
                          "30s", "--seed", "7"});
  EXPECT_EQ(options.duration, "8h");
  EXPECT_EQ(options.interval, "30s");
  EXPECT_EQ(options.selection.devices, (std::vector<std::string>{"cpu", "cuda:1"}));
  EXPECT_EQ(options.selection.seed, 7U);
  EXPECT_THROW(parse_soak_options({"assay", "run", "--for", "8h"}), UsageError);
  EXPECT_THROW(parse_soak_options({"assay", "soak", "--nonesuch"}), UsageError);
}

}  // namespace
}  // namespace assay::cli
