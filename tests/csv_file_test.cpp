#include "reports/csv_file.h"

#include <gtest/gtest.h>

#include "kernels/base/status.h"
#include "tests/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;
using Row = std::vector<std::string>;

const Row header{"a", "b"};

void write_row(CsvFile& file, const Row& row) { file.write(std::vector<Row>{row}); }

TEST(CsvFile, BeginsWithItsHeaderAndHasEachRowAtOnce) {
  const TemporaryDirectory directory;
  CsvFile file(directory / "t.csv", header, Start::fresh);
  EXPECT_EQ(read_file(directory / "t.csv"), "a,b\n");
  write_row(file, {"1", "x,y"});
  EXPECT_EQ(read_file(directory / "t.csv"), "a,b\n1,\"x,y\"\n");
  file.write({});
  EXPECT_EQ(read_file(directory / "t.csv"), "a,b\n1,\"x,y\"\n");
}

TEST(CsvFile, AFreshRunTakesNoFileThatStands) {
  const TemporaryDirectory directory;
  write_file(directory / "t.csv", "a,b\n1,2\n");
  EXPECT_THROW(CsvFile(directory / "t.csv", header, Start::fresh), std::system_error);
}

TEST(CsvFile, ResumingAppends) {
  const TemporaryDirectory directory;
  write_file(directory / "t.csv", "a,b\n1,2\n");
  CsvFile file(directory / "t.csv", header, Start::resumed);
  write_row(file, {"3", "4"});
  EXPECT_EQ(read_file(directory / "t.csv"), "a,b\n1,2\n3,4\n");
}

TEST(CsvFile, ResumingCutsATornRow) {
  const TemporaryDirectory directory;
  for (const std::string torn : {"3", "3,\"x\ny", "\"3\n"}) {
    write_file(directory / "t.csv", "a,b\n1,\"q\n\"\"q\"\n" + torn);
    CsvFile file(directory / "t.csv", header, Start::resumed);
    write_row(file, {"5", "6"});
    EXPECT_EQ(read_file(directory / "t.csv"), "a,b\n1,\"q\n\"\"q\"\n5,6\n") << torn;
  }
}

TEST(CsvFile, ResumingBeginsAFileThatIsMissingOrHasPartOfAHeader) {
  const TemporaryDirectory directory;
  write_file(directory / "part.csv", "a");
  for (const std::string name : {"part.csv", "none.csv"}) {
    CsvFile file(directory / name, header, Start::resumed);
    write_row(file, {"1", "2"});
    EXPECT_EQ(read_file(directory / name), "a,b\n1,2\n");
  }
}

TEST(CsvFile, ResumingRefusesOtherColumnsAndKeepsTheFile) {
  const TemporaryDirectory directory;
  for (const std::string text : {"a,b,c\n1,2,3\n", "x,b\n", "notes"}) {
    write_file(directory / "t.csv", text);
    EXPECT_THROW(CsvFile(directory / "t.csv", header, Start::resumed), UsageError);
    EXPECT_EQ(read_file(directory / "t.csv"), text);
  }
}

}  // namespace
}  // namespace assay
