#include "reports/page/render.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/unit/reports_support.h"

namespace assay::page {
namespace {

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

Json legend(const std::string& name) {
  return {{"legend", Json::array({{{"chart", "<svg></svg>"}, {"name", name}}})}};
}

TEST(Render, EscapesText) {
  const std::string text = render("legend", legend("a < b & \"c\" \x01"));
  EXPECT_TRUE(has(text, "a &lt; b &amp; &quot;c&quot; \uFFFD</span>")) << text;
  EXPECT_TRUE(has(text, "<svg></svg>")) << "charts are markup of our own";
}

TEST(Render, TextIsNoTemplate) {
  const std::string text = render("legend", legend("{{name}} {{> /table}} {{{chart}}}"));
  EXPECT_TRUE(has(text, "{{name}} {{&gt; /table}} {{{chart}}}</span>")) << text;
}

TEST(Render, WhatIsEmptyDisappears) {
  for (const Json& nothing : {Json(nullptr), Json(false), Json(""), Json::array()}) {
    const std::string text = render(
        "table", {{"caption", "c"}, {"hint", nothing}, {"headings", nothing}, {"rows", nothing}});
    EXPECT_FALSE(has(text, "hint")) << nothing.dump();
    EXPECT_FALSE(has(text, "<td")) << nothing.dump();
  }
  EXPECT_TRUE(has(render("table", {{"caption", "c"}, {"hint", "h"}}), ">h</span>"));
}

TEST(Render, ATemplateIsAFileOfTheFolder) {
  EXPECT_TRUE(has_template("section"));
  EXPECT_FALSE(has_template("limits"));
}

/// Markup of our own alone is written unescaped, and attributes stand in double quotes, which are
/// escaped.
TEST(Render, TemplatesEscapeWhatComesFromOutside) {
  const auto folder = std::filesystem::path(ASSAY_SOURCE_DIR) / "reports/page/templates";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::string text = testing_support::read_file(file.path());
    for (const std::string own : {"{{{chart}}}", "{{{section}}}", "{{{style}}}", "{{{script}}}"}) {
      for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own)) {
        text.erase(at, own.size());
      }
    }
    for (const char* unescaped : {"{{{", "{{&", "='{{", "={{", "{{="}) {
      EXPECT_FALSE(has(text, unescaped)) << file.path() << " has " << unescaped;
    }
  }
}

}  // namespace
}  // namespace assay::page
