#include "reports/text/text_table.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(TextTable, AlignsColumnsAndEndsLinesAtTheirText) {
  const std::vector<std::vector<std::string>> lines{
      {"op", "rate", "note"}, {"copy", "7 µs", ""}, {"x", "12.5 GB/s", "noisy"}};
  EXPECT_EQ(text_table(lines, "<><"),
            "op         rate  note\n"
            "copy       7 µs\n"
            "x     12.5 GB/s  noisy\n");
}

TEST(TextTable, CellsOfOthersStayInTheirPlace) {
  const std::vector<std::vector<std::string>> lines{{"::error::a", "b\nc"}, {"", "::error::d\x1b"}};
  EXPECT_EQ(text_table(lines, "<<"),
            "\\x3a:error::a  b\\x0ac\n"
            "               \\x3a:error::d\\x1b\n");
}

TEST(TextTable, OfNothingIsNothing) { EXPECT_EQ(text_table({}, ""), ""); }

}  // namespace
}  // namespace assay
