#include "reports/libraries/libraries_report.h"

#include <gtest/gtest.h>

#include "reports/libraries/libraries_csv.h"
#include "tests/unit/libraries_support.h"

namespace assay {
namespace {

using testing_support::KernelsRun;
using testing_support::KernelsRuns;

/// Report of runs in the directories "r0", "r1", ...
struct Report {
  explicit Report(const std::vector<KernelsRun>& contents) : runs(contents), table(runs.table()) {
    for (std::size_t i = 0; i < contents.size(); ++i) {
      directories.push_back(fmt::format("r{}", i));
    }
    differences.resize(contents.size());
  }
  LibrariesFacts facts(std::size_t longest_list = 20) const {
    return {runs.runs(), directories, differences, table, longest_list};
  }
  std::string text(std::size_t longest_list = 20) const {
    return sections_text(libraries_sections(facts(longest_list)));
  }

  KernelsRuns runs;
  LibraryTable table;
  std::vector<std::string> directories;
  std::vector<std::vector<Difference>> differences;
};

Report two_libraries() {
  return Report({KernelsRun{"built-in 1"}.timed("a", 1).timed("b", 1).timed("c", 1, 0.01, "sum"),
                 KernelsRun{"lib 2"}.timed("a", 2).timed("b", 2).ended("d", "fail"),
                 KernelsRun{"lib 3"}.timed("c", 0.5, 0.01, "sum").ended("a", "skip")});
}

TEST(LibrariesReport, FirstSaysWhichIsRightThenByOp) {
  EXPECT_EQ(two_libraries().text(), R"(Which library is right
  A time is that over built-in 1's: the geometric mean of the trials that both timed and both got right; a wrong result has none.
  Slower and faster are trials of which the whole interval lies beyond 1. Each interval is of one process: assay ab decides such questions.
  kernels     run  asked  right  wrong  failed  skipped  not offered    time  95% over trials  timed  slower  faster
  built-in 1  r0       4      3      0       0        0            1
  lib 2       r1       4      2      1       0        0            1   2.000   2.000 to 2.000      2       2       0
  lib 3       r2       4      1      0       0        1            2  0.5000                       1       0       1

Right and wrong by op
  on   op     dtype  built-in 1              lib 2             lib 3
  cpu  s/add  f32    2 right, 1 not offered  2 right, 1 wrong  1 skipped, 2 not offered
  cpu  s/sum  f32    1 right                 not offered       1 right

Time over that of built-in 1, by op
  on   op     dtype  lib 2                                    lib 3
  cpu  s/add  f32    2.000 (2.000 to 2.000) over 2: 2 slower
  cpu  s/sum  f32                                             0.5000 over 1: 1 faster

)");
}

TEST(LibrariesReport, SumsUpInOneLine) {
  EXPECT_EQ(libraries_summary(two_libraries().facts()),
            "libraries: 3 runs, 2 rows by op and dtype: 6 right, 1 wrong, 0 failed, 1 skipped, 4 "
            "not offered; 3 times compared");
  const Report untimed(
      {KernelsRun{"a"}.ended("x", "pass"), KernelsRun{"b"}.ended("x", "fail", "issue 7")});
  EXPECT_EQ(libraries_summary(untimed.facts()),
            "libraries: 2 runs, 1 row by op and dtype: 1 right, 1 wrong, 0 failed, 0 skipped, 0 "
            "not offered; 1 of the wrong and failed are known; no times to compare");
}

TEST(LibrariesReport, ListsRowsWithWrongResultsFirstAndCutsTheRest) {
  KernelsRun own{"own"};
  KernelsRun lib{"lib"};
  for (const char* op : {"a", "b", "c"}) {
    own.timed(op, 1, 0.01, op);
    lib.timed(op, 1, 0.01, op);
  }
  lib.ended("z", "fail");  // of op "add", which is not the first one by name
  const std::string text = Report({own, lib}).text(1);
  const std::size_t begin = text.find("Right and wrong by op");
  const std::string table = text.substr(begin, text.find("Time over", begin) - begin);
  EXPECT_NE(table.find("s/add"), std::string::npos) << table;
  EXPECT_EQ(table.find("s/a "), std::string::npos) << table;
  EXPECT_NE(table.find("and 3 more: --all lists them"), std::string::npos) << table;
}

TEST(LibrariesReport, HasEachDifferenceOfTheEnvironmentOnce) {
  Report report({KernelsRun{"own"}.timed("a", 1), KernelsRun{"lib"}.timed("a", 1),
                 KernelsRun{"other"}.timed("a", 1)});
  report.differences[1] = {{"OMP_NUM_THREADS", "", "1"}, {"seed", "2", "3"}};
  report.differences[2] = {{"OMP_NUM_THREADS", "", "1"}, {"seed", "2", "4"}};
  EXPECT_NE(report.text().find("Differences from the run of own\n"
                               "  what             there  here  kernels\n"
                               "  OMP_NUM_THREADS         1     lib, other\n"
                               "  seed             2      3     lib\n"
                               "  seed             2      4     other\n"),
            std::string::npos)
      << report.text();
}

TEST(LibrariesReport, ShowsIntervalsOfFewTrialsThatDisagreeBriefly) {
  const std::string text = Report({KernelsRun{"own"}.timed("a", 1).timed("b", 1),
                                   KernelsRun{"lib"}.timed("a", 1e3).timed("b", 1e-3)})
                               .text();
  EXPECT_NE(text.find("1.000 (8e-39 to 1e+38) over 2: 1 slower, 1 faster"), std::string::npos)
      << text;
}

TEST(LibrariesCsv, HasARowForEachRunOverAllAndByOp) {
  EXPECT_EQ(libraries_csv(two_libraries().facts()),
            "kernels,run,baseline,device,suite,op,dtype,asked,right,wrong,failed,known,skipped,"
            "not_offered,timed,time_ratio,time_ratio_low,time_ratio_high,slower,faster,disturbed\n"
            "built-in 1,r0,built-in 1,,,,,4,3,0,0,0,0,1,0,,,,,,\n"
            "lib 2,r1,built-in 1,,,,,4,2,1,0,0,0,1,2,2,2,2,2,0,0\n"
            "lib 3,r2,built-in 1,,,,,4,1,0,0,0,1,2,1,0.5,,,0,1,0\n"
            "built-in 1,r0,built-in 1,cpu,s,add,f32,3,2,0,0,0,0,1,0,,,,,,\n"
            "lib 2,r1,built-in 1,cpu,s,add,f32,3,2,1,0,0,0,0,2,2,2,2,2,0,0\n"
            "lib 3,r2,built-in 1,cpu,s,add,f32,3,0,0,0,0,1,2,0,,,,,,\n"
            "built-in 1,r0,built-in 1,cpu,s,sum,f32,1,1,0,0,0,0,0,0,,,,,,\n"
            "lib 2,r1,built-in 1,cpu,s,sum,f32,1,0,0,0,0,0,1,0,,,,,,\n"
            "lib 3,r2,built-in 1,cpu,s,sum,f32,1,1,0,0,0,0,0,1,0.5,,,0,1,0\n");
}

}  // namespace
}  // namespace assay
