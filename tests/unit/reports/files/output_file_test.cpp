#include "reports/files/output_file.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"
#include "tests/unit/reports_support.h"

// The rest shows from outside: tests/e2e/test_files.py.
namespace assay {
namespace {

using namespace testing_support;

const std::vector<std::string> columns{"a", "b", "c", "d", "e", "f"};

TEST(OutputFile, AppearsWholeAndWithNothingBesideIt) {
  const TemporaryDirectory folder;
  {
    OutputFile given_up("--csv", folder / "out.csv");
    given_up.write("one\n");
    EXPECT_FALSE(std::filesystem::exists(folder / "out.csv"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  OutputFile file("--csv", folder / "out.csv");
  file.write("one\n");
  file.write("two\n");
  file.close();
  EXPECT_EQ(read_file(folder / "out.csv"), "one\ntwo\n");
}

TEST(OutputFile, AFileThatCameWhileTheWorkWasDoneStays) {
  const TemporaryDirectory folder;
  OutputFile file("--csv", folder / "out.csv", first_columns(columns));
  file.write("a,b,c,d,e,f\n");
  write_file(folder / "out.csv", "somebody's");
  EXPECT_THROW(file.close(), UsageError);
  EXPECT_EQ(read_file(folder / "out.csv"), "somebody's");
}

TEST(OutputFile, OneThatAnotherVersionWroteIsReplaced) {
  const TemporaryDirectory folder;
  const std::string begin = first_columns(columns);
  for (const char* own : {"a,b,c,d,e,f,g\n1", "a,b,c,d,e,f\n", ""}) {
    write_file(folder / "out.csv", own);
    EXPECT_NO_THROW(OutputFile("--csv", folder / "out.csv", begin)) << own;
  }
  for (const char* foreign : {"a,b,c\n", "a,b,c,d,x,f\n", "\n"}) {
    write_file(folder / "out.csv", foreign);
    EXPECT_THROW(OutputFile("--csv", folder / "out.csv", begin), UsageError) << foreign;
  }
  write_file(folder / "out.csv", "a,b,c,d,e,f\n");
  EXPECT_THROW(OutputFile("--csv", folder / "out.csv"), UsageError) << "none is ever replaced";
}

TEST(OutputFile, LinksThatLeadNowhereOrInACircleAreRefused) {
  const TemporaryDirectory folder;
  std::filesystem::create_symlink("a", folder / "b");
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("missing/out.csv", folder / "lost");
  for (const char* name : {"a", "lost"}) {
    EXPECT_THROW(OutputFile("--csv", folder / name), UsageError) << name;
  }
}

}  // namespace
}  // namespace assay
