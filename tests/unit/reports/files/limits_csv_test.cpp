#include "reports/files/limits_csv.h"

#include <gtest/gtest.h>

#include <fstream>

#include "kernels/core/status.h"
#include "reports/text/limits_table.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using testing_support::TemporaryDirectory;

Limit copy_limit() {
  Limit limit{.device = "cpu", .limit = LimitKind{Resource::memory_copy}, .status = Status::pass};
  limit.unit = "B/s";
  limit.value = 31.25e9;
  limit.ci_low = 31e9;
  limit.ci_high = 31.5e9;
  limit.theoretical = 62.5e9;
  limit.case_id = "limits/stream_copy/f64/n=16777216";
  limit.implementation = "OpenMP loop, streaming stores";
  limit.samples = 41;
  limit.contended = true;
  return limit;
}

Limit failed_limit() {
  Limit limit{
      .device = "cuda:0", .limit = LimitKind{Resource::matrix, DType::bf16}, .status = Status::oom};
  limit.reason = "no memory, \"none\"";
  return limit;
}

TEST(LimitsCsv, IsReadBackAsItWasWritten) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  EXPECT_TRUE(read_limits(path).empty());
  { LimitsCsv(path, Start::fresh).add(copy_limit()); }
  { LimitsCsv(path, Start::resumed).add(failed_limit()); }
  const std::vector<Limit> limits = read_limits(path);
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

TEST(LimitsCsv, KeepsTheNameOfALimitOfAnotherVersion) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  Limit limit = copy_limit();
  limit.limit = NamedLimit("memory_strided");
  { LimitsCsv(path, Start::fresh).add(limit); }
  const std::vector<Limit> limits = read_limits(path);
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(name(limits[0].limit), "memory_strided");
  EXPECT_EQ(limits[0].limit.kind(), nullptr);
}

TEST(LimitsCsv, RefusesWhatIsNone) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  std::ofstream(path) << "a,b\n1,2\n";
  EXPECT_THROW(read_limits(path), UsageError);
}

TEST(LimitsCsv, OfARunThatWasKilledBeforeItsFirstRowHasNone) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  { const std::ofstream empty(path); }
  EXPECT_TRUE(read_limits(path).empty());
}

TEST(LimitsCsv, OfARunThatDidNotEndMayHaveATornRow) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "limits.csv";
  { LimitsCsv(path, Start::fresh).add(copy_limit()); }
  std::ofstream(path, std::ios::app) << "cpu,memory_re";
  EXPECT_EQ(read_limits(path, false).size(), 1U);
  EXPECT_THROW(read_limits(path), UsageError);
}

TEST(LimitsTable, ShowsFiguresAndWhatKeptThemFromBeing) {
  const std::vector<Limit> limits{copy_limit(), failed_limit()};
  const std::string table = limits_table(limits);
  EXPECT_NE(table.find("31.2 GB/s  31.0 G to 31.5 GB/s  62.5 GB/s    50%"), std::string::npos)
      << table;
  EXPECT_NE(table.find("by OpenMP loop, streaming stores, contended"), std::string::npos) << table;
  EXPECT_NE(table.find("oom: no memory"), std::string::npos) << table;
}

TEST(LimitsTable, SaysWhyAFigureHasNoInterval) {
  Limit limit = copy_limit();
  limit.ci_low.reset();
  limit.ci_high.reset();
  limit.samples = 5;
  const std::string table = limits_table(std::vector{limit});
  EXPECT_NE(table.find("31.2 GB/s  too few samples  62.5 GB/s"), std::string::npos) << table;
}

}  // namespace
}  // namespace assay
