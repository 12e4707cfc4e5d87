#include "reports/files/soak_csv.h"

#include <gtest/gtest.h>

#include <fstream>

#include "harness/records/fields_text.h"
#include "kernels/core/status.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using testing_support::TemporaryDirectory;

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

TEST(SoakCsv, IsReadBackAsItWasWritten) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "soak.csv";
  { SoakCsv(path, Start::fresh).add(soak_row(interval(), 70.5)); }
  { SoakCsv(path, Start::resumed).add(soak_row(interval(), 80)); }
  const std::vector<SoakRow> rows = read_soak(path);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(field_cells(rows[0]), field_cells(soak_row(interval(), 70.5)));
  EXPECT_EQ(rows[0].interval, 7);
  EXPECT_EQ(rows[0].copied_bytes_per_s, 3e9);
  EXPECT_EQ(rows[0].products_per_s, std::nullopt);
  EXPECT_EQ(rows[0].work.temperature_c, 71);
  EXPECT_EQ(rows[0].work.nvlink_errors, std::nullopt);
  EXPECT_EQ(rows[1].elapsed_s, 80);
}

TEST(SoakCsv, LeavesOutATornRow) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "soak.csv";
  { SoakCsv(path, Start::fresh).add(soak_row(interval(), 1)); }
  std::ofstream(path, std::ios::app) << "cuda:1,8,2026";
  EXPECT_EQ(read_soak(path).size(), 1U);
  { SoakCsv(path, Start::resumed).add(soak_row(interval(), 2)); }
  EXPECT_EQ(read_soak(path).size(), 2U);
  std::ofstream(path) << "another,file\n";
  EXPECT_THROW(read_soak(path), UsageError);
}

TEST(SoakCsv, HasARowForAnIntervalWithoutWork) {
  Result crash;
  crash.record.status = Status::crash;
  const SoakRow row = soak_row(crash, 1);
  EXPECT_EQ(row.work.launches, 0);
  EXPECT_EQ(row.products_per_s, std::nullopt);
}

}  // namespace
}  // namespace assay
