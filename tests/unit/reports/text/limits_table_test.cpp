#include "reports/text/limits_table.h"

#include <gtest/gtest.h>

#include "harness/records/limit.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

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
