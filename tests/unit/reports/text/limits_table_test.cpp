#include "reports/text/limits_table.h"

#include <gtest/gtest.h>

#include "harness/records/limit.h"

namespace assay {
namespace {

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
