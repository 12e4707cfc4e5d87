#include "harness/records/printable.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text :
       {"", "plain", "a: b", "std::vector", "naïve µs … 😀", "## heading", "5 % of [x]", "\\x1b"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, ShowsControlCharacters) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("one\ntwo\r\n\tthree"), "one\\x0atwo\\x0d\\x0a\\x09three");
  EXPECT_EQ(printable(std::string_view("\0\x07\x08\x7f", 4)), "\\x00\\x07\\x08\\x7f");
  EXPECT_EQ(printable("\xc2\x9b\x33\x31m"), "\\xc2\\x9b31m") << "C1: CSI in one character";
  EXPECT_EQ(printable("\x9b\x31m \xff"), "\\x9b1m \\xff") << "and bytes that are no UTF-8";
}

TEST(Printable, BeginsNoCommandOfACiSystem) {
  EXPECT_EQ(printable("::error::x"), "\\x3a:error::x");
  EXPECT_EQ(printable("   ::stop-commands::x"), "   \\x3a:stop-commands::x");
  EXPECT_EQ(printable("x\n::add-mask::y"), "x\\x0a::add-mask::y");
  EXPECT_EQ(printable("behind ##[error]x"), "behind \\x23#[error]x");
  EXPECT_EQ(printable("##vso[task.complete]"), "\\x23#vso[task.complete]");
  EXPECT_EQ(printable("###[x]"), "#\\x23#[x]");
}

TEST(PrintableLines, KeepLineEndsAlone) {
  EXPECT_EQ(printable_lines("a\n  b\r\nc\x1b\rd\n"), "a\n  b\r\nc\\x1b\\x0dd\n");
  EXPECT_EQ(printable_lines("a\n ::error::b\n"), "a\n \\x3a:error::b\n");
  EXPECT_EQ(printable_lines("\n\n"), "\n\n");
  EXPECT_EQ(printable_lines("a\r"), "a\\x0d");
  EXPECT_EQ(printable_lines(""), "");
}

}  // namespace
}  // namespace assay
