#include "emulator/ptx/source_lines.h"

#include <gtest/gtest.h>

namespace emulator::ptx {
namespace {

constexpr const char* text = R"(.version 9.0
.visible .entry first()
{
	mov.u32 %r1, 0;
	.loc	1 7 3
	mov.u32 %r2, 0;
	.loc	2 5 3, function_name $L__info_string0, inlined_at 1 8 4
	.loc	2 2 9, function_name $L__info_string1, inlined_at 2 5 3
	ld.global.u32 %r3, [%rd1];
	.loc	1 9 1
	ret;
}
.visible .entry second()
{
	ret;
}
	.file	1 "src/kernel.cu"
	.file	2 "src/util.h", 1722470400, 512
)";

std::string place_of(std::string_view ptx, int line) { return text_of(source_lines(ptx, line)); }

TEST(SourceLines, AreThoseOfTheLastDirective) {
  EXPECT_EQ(place_of(text, 6), "src/kernel.cu:7");
  EXPECT_EQ(place_of(text, 11), "src/kernel.cu:9");
}

TEST(SourceLines, NameThePlacesThatCodeWasInlinedAt) {
  EXPECT_EQ(place_of(text, 9), "src/util.h:2, inlined at src/util.h:5, inlined at src/kernel.cu:8");
}

TEST(SourceLines, AreUnknownBeforeTheFirstAndInOtherFunctions) {
  EXPECT_EQ(place_of(text, 4), "");
  EXPECT_EQ(place_of(text, 15), "");
  EXPECT_EQ(place_of("", 1), "");
}

}  // namespace
}  // namespace emulator::ptx
