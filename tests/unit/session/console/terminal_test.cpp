#include "session/console/terminal.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Wrapped, BreaksLongLinesAtSpacesAndIndentsTheRest) {
  EXPECT_EQ(wrapped("fail: one two three four\nshort\n", 14),
            "fail: one two\n  three four\nshort\n");
  EXPECT_EQ(wrapped("  in a list of it\n", 10), "  in a\n    list\n    of it\n");
}

TEST(Wrapped, CountsCharactersAndNotBytes) {
  EXPECT_EQ(wrapped("µµ ×× µµ", 8), "µµ ×× µµ");
  EXPECT_EQ(wrapped("µµ ×× µµ", 7), "µµ ××\n  µµ");
}

TEST(Wrapped, KeepsCommandsLongWordsAndStatusLinesWhole) {
  EXPECT_EQ(wrapped("    assay run --case a --seed 1\n", 10), "    assay run --case a --seed 1\n");
  EXPECT_EQ(wrapped("case/of/a/long/name is wrong", 8), "case/of/a/long/name\n  is\n  wrong");
  EXPECT_EQ(wrapped("\r\033[K1 of 2 cases", 4), "\r\033[K1 of 2 cases");
}

}  // namespace
}  // namespace assay
