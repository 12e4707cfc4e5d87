#include "reports/files/table_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "harness/records/limit.h"
#include "harness/records/paired.h"
#include "harness/records/soak_row.h"
#include "kernels/core/status.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

Result interval() {
  Result result;
  result.record.device = "cuda:1";
  result.record.repeat = 7;
  result.record.case_id = "limits/stream_copy/f64/n=1024";
  result.record.status = Status::fail;
  result.record.reason = "one, \"bit\"";
  SoakWork& work = result.soak.emplace();
  work.launches = 17;
  work.copied_bytes = 6e9;
  work.launch_s = 2;
  work.wrong_elements = 1;
  work.first_wrong = "launch 17 [3] expected 0x00 actual 0x01";
  work.temperature_c = 71;
  work.ecc_corrected = 2;
  work.xid_errors = 1;
  work.last_xid = 48;
  return result;
}

TEST(TableFile, OfLimitsIsReadBackAsItWasWritten) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  EXPECT_TRUE(read_table_file<Limit>(path).empty());
  { TableFile<Limit>(path).add(copy_limit()); }
  { TableFile<Limit>(path, Start::resumed).add(failed_limit()); }
  const std::vector<Limit> limits = read_table_file<Limit>(path);
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].limit, LimitKind{Resource::memory_copy});
  EXPECT_EQ(limits[0].value, 31.25e9);
  EXPECT_EQ(limits[0].case_id, copy_limit().case_id);
  EXPECT_EQ(limits[0].contended, true);
  EXPECT_EQ(limits[0].throttled, std::nullopt);
  EXPECT_EQ(limits[1].limit, (LimitKind{Resource::matrix, DType::bf16}));
  EXPECT_EQ(limits[1].status, Status::oom);
  EXPECT_EQ(limits[1].reason, failed_limit().reason);
  EXPECT_EQ(limits[1].value, std::nullopt);
}

TEST(TableFile, KeepsTheNameOfALimitOfAnotherVersion) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  Limit limit = copy_limit();
  limit.limit = NamedLimit("memory_strided");
  { TableFile<Limit>(path).add(limit); }
  const std::vector<Limit> limits = read_table_file<Limit>(path);
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(name(limits[0].limit), "memory_strided");
  EXPECT_EQ(limits[0].limit.kind(), nullptr);
}

TEST(TableFile, RefusesWhatIsNone) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  std::ofstream(path) << "a,b\n1,2\n";
  EXPECT_THROW(read_table_file<Limit>(path), UsageError);
}

TEST(TableFile, OfARunThatWasKilledBeforeItsFirstRowHasNone) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  { const std::ofstream empty(path); }
  EXPECT_TRUE(read_table_file<Limit>(path).empty());
}

TEST(TableFile, OfARunThatDidNotEndMayHaveATornRow) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  { TableFile<Limit>(path).add(copy_limit()); }
  std::ofstream(path, std::ios::app) << "cpu,memory_re";
  EXPECT_EQ(read_table_file<Limit>(path, LastRow::maybe_torn).size(), 1U);
  EXPECT_THROW(read_table_file<Limit>(path), UsageError);
}

TEST(TableFile, OfASoakIsReadBackAsItWasWritten) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "soak.csv";
  { TableFile<SoakRow>(path).add(soak_row(interval(), 70.5)); }
  { TableFile<SoakRow>(path, Start::resumed).add(soak_row(interval(), 80)); }
  const std::vector<SoakRow> rows = read_table_file<SoakRow>(path, LastRow::maybe_torn);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(field_cells(rows[0]), field_cells(soak_row(interval(), 70.5)));
  EXPECT_EQ(rows[0].interval, 7);
  EXPECT_EQ(rows[0].copied_bytes_per_s, 3e9);
  EXPECT_EQ(rows[0].products_per_s, std::nullopt);
  EXPECT_EQ(rows[0].work.temperature_c, 71);
  EXPECT_EQ(rows[0].work.nvlink_errors, std::nullopt);
  EXPECT_EQ(rows[1].elapsed_s, 80);
}

TEST(TableFile, LeavesOutATornRow) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "soak.csv";
  { TableFile<SoakRow>(path).add(soak_row(interval(), 1)); }
  std::ofstream(path, std::ios::app) << "cuda:1,8,2026";
  EXPECT_EQ(read_table_file<SoakRow>(path, LastRow::maybe_torn).size(), 1U);
  { TableFile<SoakRow>(path, Start::resumed).add(soak_row(interval(), 2)); }
  EXPECT_EQ(read_table_file<SoakRow>(path, LastRow::maybe_torn).size(), 2U);
  std::ofstream(path) << "another,file\n";
  EXPECT_THROW(read_table_file<SoakRow>(path, LastRow::maybe_torn), UsageError);
}

TEST(TableFile, OfAComparisonIsReadBackAsItWasWritten) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "ab.csv";
  EXPECT_TRUE(read_table_file<PairedCase>(path).empty());
  std::vector<PairedCase> cases(2);
  cases[0] = {.case_id = "tensor_ops/add/f32/n=8",
              .verdict = PairedVerdict::regressed,
              .ratio = 1.25,
              .base_implementation = "oneDNN 2.6",
              .cand_implementation = "oneDNN 3.1"};
  cases[1] = {.case_id = "tensor_ops/sub/f32/n=8",
              .verdict = PairedVerdict::broken,
              .reason = "no memory, \"none\""};
  write_file(path, write_table(cases));
  const std::vector<PairedCase> read = read_table_file<PairedCase>(path);
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
