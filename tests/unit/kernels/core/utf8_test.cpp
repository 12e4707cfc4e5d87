#include "kernels/core/utf8.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Utf8, ReadsTheFirstCharacter) {
  const auto expect = [](std::string_view text, std::uint32_t code, std::size_t length) {
    const auto character = first_character(text);
    ASSERT_TRUE(character) << text;
    EXPECT_EQ(character->code, code);
    EXPECT_EQ(character->length, length);
  };
  expect("a…", 0x61, 1);
  expect("µs", 0xB5, 2);
  expect("漢", 0x6F22, 3);
  expect("😀", 0x1F600, 4);
  expect("\xF4\x8F\xBF\xBF", 0x10FFFF, 4);
}

TEST(Utf8, KeepsWhatIsValid) {
  const std::string text = "a\tb\n µ … 漢 😀 \x7F\x01";
  EXPECT_EQ(valid_utf8(text), text);
  EXPECT_EQ(valid_utf8(""), "");
}

TEST(Utf8, ReplacesEachByteThatIsNot) {
  EXPECT_EQ(valid_utf8(std::string_view("a\0b", 3)), "a�b") << "NUL";
  EXPECT_EQ(valid_utf8("\xFF(\x80"), "�(�") << "never the start of a character";
  EXPECT_EQ(valid_utf8("\xC3"), "�") << "cut short";
  EXPECT_EQ(valid_utf8("\xC3("), "�(") << "not continued";
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "��") << "overlong";
  EXPECT_EQ(valid_utf8("\xE0\x80\xAF"), "���") << "overlong";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "���") << "surrogate";
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), "����") << "beyond U+10FFFF";
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(cut_utf8("aµb", 4), "aµb");
  EXPECT_EQ(cut_utf8("aµb", 3), "aµ");
  EXPECT_EQ(cut_utf8("aµb", 2), "a");
  EXPECT_EQ(cut_utf8("😀", 3), "");
}

}  // namespace
}  // namespace assay
