#include "harness/records/csv_header.h"

#include <gtest/gtest.h>

#include <sstream>

namespace assay {
namespace {

using Columns = std::vector<std::string>;

std::vector<CsvRow> rows_of(const std::string& csv) {
  std::istringstream text(csv);
  return read_csv(text, "t.csv");
}

template <class Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(CsvHeader, FindsCellsByTheNamesOfTheirColumns) {
  const auto rows = rows_of("one,two\n1,2\n");
  const CsvHeader header("t.csv", rows[0]);
  EXPECT_EQ(header.columns(), (Columns{"one", "two"}));
  EXPECT_EQ(header.place("two"), 1U);
  EXPECT_EQ(header.cell(rows[1], "two"), "2");
  EXPECT_EQ(header.place("three"), CsvHeader::absent);
  EXPECT_EQ(header.cell(rows[1], "three"), "");
}

TEST(CsvHeader, NamesTheColumnThatIsWrong) {
  const auto rows = rows_of("one,two\n1,2,3\n");
  const CsvHeader header("t.csv", rows[0]);
  EXPECT_EQ(refusal_of([&] { CsvHeader("t.csv", rows_of("a,b,a\n")[0]); }),
            "t.csv:1:5: column 'a' is there twice");
  EXPECT_EQ(refusal_of([&] { header.need("three"); }),
            "t.csv:1:1: the header needs a column 'three'");
  EXPECT_EQ(refusal_of([&] { header.need("two"); }), "taken");
  EXPECT_EQ(refusal_of([&] {
              header.allow(Columns{"one", "tow"});
            }).find("t.csv:1:5: unknown"),
            0U);
  EXPECT_EQ(refusal_of([&] { header.allow(Columns{"one", "two", "three"}); }), "taken");
  EXPECT_EQ(refusal_of([&] { header.check_width(rows[1]); }),
            "t.csv:2:5: 3 fields where the header has 2");
}

}  // namespace
}  // namespace assay
