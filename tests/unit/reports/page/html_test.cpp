#include "reports/page/html.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace assay::page {
namespace {

TEST(Html, EscapesTextAndAttributes) {
  Html html;
  html.element("p", "a < b & \"c\" \x01", {{"title", "<\"&"}});
  EXPECT_EQ(html.take(), "\n<p title=\"&lt;&quot;&amp;\">a &lt; b &amp; &quot;c&quot; \uFFFD</p>");
}

TEST(Html, ElementsEndInTurn) {
  Html html;
  html.begin("div");
  html.begin("p");
  EXPECT_THROW(html.end("div"), std::logic_error);
  EXPECT_THROW(html.take(), std::logic_error);
  html.end("p");
  html.end("div");
  EXPECT_EQ(html.take(), "\n<div>\n<p></p></div>");
  EXPECT_THROW(html.end("div"), std::logic_error);
}

TEST(Html, WhatStandsInALineGetsNoSpaceOfItsOwn) {
  Html html;
  html.begin("p");
  html.text("a");
  html.element("code", "b");
  html.raw("<i>c</i>");
  html.end("p");
  EXPECT_EQ(html.take(), "\n<p>a<code>b</code><i>c</i></p>");
}

}  // namespace
}  // namespace assay::page
