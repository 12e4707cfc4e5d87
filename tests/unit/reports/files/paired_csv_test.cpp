#include "reports/files/paired_csv.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using testing_support::TemporaryDirectory;

TEST(PairedCsv, CasesAreReadBackAsTheyWereWritten) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "ab.csv";
  EXPECT_TRUE(read_paired_cases(path).empty());
  std::vector<PairedCase> cases(2);
  cases[0] = {.case_id = "tensor_ops/add/f32/n=8",
              .verdict = PairedVerdict::regressed,
              .ratio = 1.25,
              .base_implementation = "oneDNN 2.6",
              .cand_implementation = "oneDNN 3.1"};
  cases[1] = {.case_id = "tensor_ops/sub/f32/n=8",
              .verdict = PairedVerdict::broken,
              .reason = "no memory, \"none\""};
  write_paired_cases(path, cases);
  const std::vector<PairedCase> read = read_paired_cases(path);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].case_id, cases[0].case_id);
  EXPECT_EQ(read[0].verdict, PairedVerdict::regressed);
  EXPECT_EQ(read[0].ratio, 1.25);
  EXPECT_EQ(read[0].base_implementation, "oneDNN 2.6");
  EXPECT_EQ(read[0].cand_implementation, "oneDNN 3.1");
  EXPECT_EQ(read[1].verdict, PairedVerdict::broken);
  EXPECT_EQ(read[1].reason, cases[1].reason);
  EXPECT_EQ(read[1].ratio, std::nullopt);
}

}  // namespace
}  // namespace assay
