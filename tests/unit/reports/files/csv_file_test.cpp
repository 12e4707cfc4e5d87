#include "reports/files/csv_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "kernels/core/status.h"
#include "tests/unit/reports_support.h"

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

TEST(CsvFile, ResumingCutsNothingOfAFileThatIsDamagedBeforeItsLastRow) {
  const TemporaryDirectory directory;
  const std::string rows = "a,b\n1,2\n3,4\n5,6\n";
  for (const std::size_t at : {0U, 1U, 2U, 4U, 5U, 6U, 8U, 9U, 10U}) {  // not in the last row
    std::string text = rows;
    text.replace(at, 1, "\"");
    write_file(directory / "t.csv", text);
    EXPECT_THROW(CsvFile(directory / "t.csv", header, Start::resumed), UsageError) << at;
    EXPECT_EQ(read_file(directory / "t.csv"), text);
  }
  for (const std::string text : {"a,b\n1\n3,4\n", "a,b\n1,2,3\n3,4\n", "a,b\n1,2\n3,4,5"}) {
    write_file(directory / "t.csv", text);
    EXPECT_THROW(CsvFile(directory / "t.csv", header, Start::resumed), UsageError) << text;
    EXPECT_EQ(read_file(directory / "t.csv"), text);
  }
}

TEST(WholeRows, EveryBeginningOfAFileHasTheRowsThatEndedInIt) {
  const std::string text = "a,b\n1,\"x\ny, \"\"z\"\"\"\n3,4\n";
  const std::vector<std::size_t> ends{0, 4, 19, text.size()};
  ASSERT_EQ(text.substr(0, 19), "a,b\n1,\"x\ny, \"\"z\"\"\"\n");
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto end = std::prev(std::ranges::upper_bound(ends, size));
    EXPECT_EQ(whole_rows(text.substr(0, size), "a,b\n", "t.csv"), *end) << size;
  }
}

TEST(WholeRows, OneQuoteTooManyIsNamed) {
  const auto refusal = [](const std::string& text) {
    return message_of<UsageError>([&] { whole_rows(text, "a,b\n", "t.csv"); });
  };
  EXPECT_EQ(
      refusal("a,b\n1,\"2\n3,4\n5,6\n"),
      "t.csv:2:1: a quote in this row is never closed, and whole rows follow it; mend the file "
      "by hand, or start a new run");
  EXPECT_EQ(refusal("a,b\n1,2\"\n3,4\n"), "t.csv:2:4: a quote inside a field that is not quoted");
  EXPECT_EQ(refusal("a\",b\n1,2\n"), "t.csv:1:1: not the columns that assay writes there");
}

TEST(ReadText, HasALimitAndReadsRegularFilesAlone) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "four");
  EXPECT_EQ(read_text(directory / "a"), "four");
  EXPECT_EQ(read_text(directory / "a", 4), "four");
  const auto refusal = [](const std::filesystem::path& path) {
    return message_of<UsageError>([&] { read_text(path, 3); });
  };
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "4 bytes, and no such file",
                      refusal(directory / "a"));
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  for (const std::string none : {"none", "fifo", "."}) {
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "cannot be read", refusal(directory / none));
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
