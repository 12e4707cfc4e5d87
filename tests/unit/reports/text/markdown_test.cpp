#include "reports/text/markdown.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

TEST(Markdown, TextIsShownAsItIs) {
  EXPECT_EQ(markdown_text("a*b_c <d> [e] `f` \\ &amp;"),
            "a\\*b\\_c \\<d\\> \\[e\\] \\`f\\` \\\\ \\&amp;");
  EXPECT_EQ(markdown_text("two\nlines\r\n"), "two lines  ");
  EXPECT_EQ(markdown_text("\xFF"), "�");
  EXPECT_EQ(markdown_text("a\x1b[2J\xC2\x9b"), "a\\\\x1b\\[2J\\\\xc2\\\\x9b");
  EXPECT_EQ(markdown_text("::error::x"), "\\\\x3a:error::x");
}

TEST(Markdown, TextIsCutBetweenCharacters) {
  EXPECT_EQ(markdown_text("abcdef", 6), "abcdef");
  EXPECT_EQ(markdown_text("abcdef", 5), "abcde…");
  EXPECT_EQ(markdown_text("aµb", 2), "a…");
}

TEST(Markdown, CodeMayHoldBackticks) {
  EXPECT_EQ(markdown_code("a b"), "`a b`");
  EXPECT_EQ(markdown_code("a`b``c"), "``` a`b``c ```");
  EXPECT_EQ(markdown_code("a\nb"), "`a b`");
}

TEST(Markdown, RowsEscapePipes) {
  EXPECT_EQ(markdown_row(std::vector<std::string>{"a", "`b|c`", ""}), "| a | `b\\|c` |  |");
}

}  // namespace
}  // namespace assay
