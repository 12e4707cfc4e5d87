#include "reports/text/xml_text.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(XmlText, EscapesMarkup) {
  EXPECT_EQ(xml_text("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; 'd'");
  EXPECT_EQ(xml_text("]]>"), "]]&gt;");
  EXPECT_EQ(xml_text("a\tb\nc\rd"), "a&#9;b&#10;c&#13;d");
  EXPECT_EQ(xml_text(""), "");
}

TEST(XmlText, KeepsUtf8) {
  const std::string text = "ß … 漢 😀 \xEE\x80\x80 \xEF\xBF\xBD";
  EXPECT_EQ(xml_text(text), text);
}

TEST(XmlText, ReplacesWhatXmlCannotHold) {
  EXPECT_EQ(xml_text(std::string_view("\0\x01\x1F", 3)), "���");
  EXPECT_EQ(xml_text("a\x1B[31mred"), "a�[31mred");
  EXPECT_EQ(xml_text("\xEF\xBF\xBE \xEF\xBF\xBF"), "� �") << "U+FFFE, U+FFFF";
  EXPECT_EQ(xml_text("a\x7F\xC2\x9B"
                     "b"),
            "a��b")
      << "DEL and C1";
  EXPECT_EQ(xml_text("\xFF<"), "�&lt;") << "no UTF-8";
}

}  // namespace
}  // namespace assay
