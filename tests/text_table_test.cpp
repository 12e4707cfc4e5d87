#include "reports/text_table.h"

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

TEST(TextTable, OfNothingIsNothing) { EXPECT_EQ(text_table({}, ""), ""); }

}  // namespace
}  // namespace assay
