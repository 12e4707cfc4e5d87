#include "harness/records/claims.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kernels/ops/op.h"

namespace assay {
namespace {

TEST(Claims, EachScenarioStandsForOneThatItsDocumentHasToo) {
  std::ifstream file(std::filesystem::path(ASSAY_SOURCE_DIR) / "docs/placement.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const Op& op : op_table()) {
    if (!op.is_scenario) continue;
    const std::string claim(claim_of("placement", op.name));
    EXPECT_NE(claim, "") << op.name;
    EXPECT_NE(page.find("| " + claim + " | `" + std::string(op.name) + "` |"), std::string::npos)
        << op.name;
  }
}

TEST(Claims, OtherOpsHaveNone) {
  EXPECT_EQ(claim_of("tensor_ops", "add"), "");
  EXPECT_EQ(claim_of("tensor_ops", "device_query"), "");
  EXPECT_EQ(claim_of("placement", "later_op"), "");
}

}  // namespace
}  // namespace assay
