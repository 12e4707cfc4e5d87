#include "reports/chart/svg.h"

#include <gtest/gtest.h>

#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using testing_support::xml_fault;

Svg one_of_each() {
  Svg svg(200, 100, "a < b & c");
  svg.begin_part(10, 20.04);
  svg.rect(0, 0, 5, 5, "range", "a \"tip\" & more");
  svg.line(0, 1.25, 2, 3, "grid");
  svg.circle(1, 1, 2, "point", "<1>");
  svg.text(0, 0, "x < y & \x01", "label");
  svg.end_part();
  return svg;
}

TEST(Svg, IsWellFormed) {
  EXPECT_EQ(xml_fault(one_of_each().document()), "");
  EXPECT_EQ(xml_fault(one_of_each().element()), "");
}

TEST(Svg, EscapesAllText) {
  const std::string text = one_of_each().document();
  for (const char* part : {"<title>a &lt; b &amp; c</title>", "a &quot;tip&quot; &amp; more",
                           "&lt;1&gt;", "x &lt; y &amp; �"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(Svg, ADocumentStandsAlone) {
  const std::string text = one_of_each().document();
  EXPECT_TRUE(text.starts_with("<?xml"));
  EXPECT_TRUE(text.starts_with(svg_document_begin)) << "or it would not be replaced";
  EXPECT_NE(text.find("xmlns=\"http://www.w3.org/2000/svg\""), std::string::npos);
  EXPECT_NE(text.find(chart_style()), std::string::npos);
  EXPECT_EQ(one_of_each().element().find("<style>"), std::string::npos);
}

TEST(Svg, NumbersAreTenthsOfPixels) {
  const std::string text = one_of_each().element();
  EXPECT_NE(text.find("translate(10 20)"), std::string::npos) << text;
  EXPECT_NE(text.find("y1=\"1.3\""), std::string::npos) << text;
  Svg svg(1, 1, "");
  svg.line(-0.01, 0, 1e-9, 1, "grid");
  EXPECT_NE(svg.element().find("x1=\"0\" y1=\"0\" x2=\"0\""), std::string::npos) << "no minus zero";
}

TEST(Svg, AFluidChartIsAsWideAsItsPlaceAndItsTextIsNot) {
  Svg svg = Svg::fluid(40, "wide");
  svg.line(0, 1, 0.5, 2, "grid");
  svg.mark(Svg::dot, 1.0 / 3, 20, "s0");
  svg.text(1, 5, "at the end", "label", Svg::Anchor::start, 0, 8);
  const std::string text = svg.element();
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_EQ(text.find("viewBox"), std::string::npos) << "which would scale the text";
  EXPECT_NE(text.find("x2=\"50%\" y2=\"2\""), std::string::npos) << text;
  EXPECT_NE(text.find("translate(33.33%,20px)"), std::string::npos) << text;
  EXPECT_NE(text.find("x=\"100%\" dx=\"8\""), std::string::npos) << text;
}

TEST(Svg, TextThatDoesNotFitIsCutWithTheWholeAsItsTip) {
  Svg svg(100, 100, "");
  const std::string whole(60, 'w');
  svg.text(0, 0, whole, "label", Svg::Anchor::start, 100);
  svg.text(0, 0, "ßßß", "label", Svg::Anchor::end, 100);
  const std::string text = svg.element();
  EXPECT_NE(text.find("w…<title>" + whole + "</title>"), std::string::npos) << text;
  EXPECT_NE(text.find("text-anchor=\"end\">ßßß</text>"), std::string::npos) << text;
}

TEST(Svg, EveryClassHasItsColourInTheDark) {
  const std::string_view style = chart_style();
  const std::size_t dark = style.find("@media screen and (prefers-color-scheme: dark)");
  ASSERT_NE(dark, std::string_view::npos);
  for (const char* name :
       {".paper", ".grid", ".point", ".level", ".gap", ".title", ".label", ".change"}) {
    EXPECT_LT(style.find(name), dark) << name;
    EXPECT_NE(style.find(name, dark), std::string_view::npos) << name;
  }
}

}  // namespace
}  // namespace assay
