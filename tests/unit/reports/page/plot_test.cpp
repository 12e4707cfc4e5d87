#include "reports/page/plot.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/reports_support.h"

namespace assay::page {
namespace {

using testing_support::count;
using testing_support::xml_fault;

Plot two_series() {
  Plot plot{.title = "copy"};
  plot.x = {"B"};
  plot.y = {"B/s"};
  plot.series = {
      {"f32", {{4e6, 30e9, 27e9, 33e9, "second", "#row=0.2"}, {4e3, 90e9, 0, 0, "first"}}},
      {"f64", {{4e6, 20e9, 0, 0, "a <tip>"}}, false, 1}};
  plot.limits = {{"memory_copy 31 GB/s", {{4e3, 31e9}, {4e6, 31e9}}, "limit"}};
  return plot;
}

TEST(Plot, ShowsEachPointWithItsIntervalAndItsLink) {
  const std::string svg = plot_svg(two_series()).value();
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(count(svg, "<title>second</title>"), 1U);
  EXPECT_EQ(count(svg, "<a href=\"#row=0.2\">"), 1U);
  EXPECT_EQ(count(svg, "s0 spread"), 1U) << "an interval for the one point that has one";
  EXPECT_EQ(count(svg, "s0 joined"), 1U);
  EXPECT_EQ(count(svg, "s1 joined"), 0U);
  EXPECT_NE(svg.find("a &lt;tip&gt;"), std::string::npos);
  EXPECT_NE(svg.find("memory_copy 31 GB/s"), std::string::npos);
}

TEST(Plot, LeavesOutIntervalsThatAMarkHides) {
  Plot plot = two_series();
  plot.series[0].points[0].low = 29.9e9;
  plot.series[0].points[0].high = 30.1e9;
  EXPECT_EQ(count(plot_svg(plot).value(), "s0 spread"), 0U);
}

/// Returns the vertical position of the first mark with this tip.
double y_of(const std::string& svg, const std::string& tip) {
  const std::size_t at = svg.find("<title>" + tip);
  const std::string position = svg.substr(0, at).substr(svg.rfind("translate(", at) + 10);
  return std::stod(position.substr(position.find(',') + 1));
}

TEST(Plot, MoreIsHigher) {
  const std::string svg = plot_svg(two_series()).value();
  EXPECT_LT(y_of(svg, "first"), y_of(svg, "second"));
  EXPECT_LT(y_of(svg, "second"), y_of(svg, "a &lt;tip"));
}

TEST(Plot, LeavesOutWhatItsAxesCannotShow) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Plot plot = two_series();
  plot.limits.clear();
  plot.series = {{"f32", {{0, 1}, {1, nan}, {infinity, 1}, {-1, 1}, {1, -1}}}};
  EXPECT_FALSE(plot_svg(plot));
  plot.series[0].points.push_back({8, 2, 0, 0, "kept"});
  const std::string svg = plot_svg(plot).value();
  EXPECT_EQ(count(svg, "<title>kept</title>"), 1U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(Plot, OfVeryManyPointsKeepsTheExtremesAndSaysSo) {
  Plot plot = two_series();
  plot.series.resize(1);
  plot.series[0].points.clear();
  for (int i = 0; i < 10000; ++i) {
    const double y = i == 5000 ? 99 : i == 6000 ? 1 : 50 + i % 7;
    plot.series[0].points.push_back({i + 1.0, y, 0, 0, fmt::format("point {}", i)});
  }
  const std::string svg = plot_svg(plot).value();
  EXPECT_LE(count(svg, "<path "), 160U);
  EXPECT_TRUE(svg.find(">point 5000<") != std::string::npos);
  EXPECT_TRUE(svg.find(">point 6000<") != std::string::npos);
  EXPECT_NE(svg.find("of 10000 points)"), std::string::npos);
}

/// Returns the baselines of texts of this class, in the order drawn.
std::vector<double> baselines(const std::string& svg, const std::string& style) {
  std::vector<double> found;
  for (std::size_t at = svg.find(style); at != std::string::npos; at = svg.find(style, at + 1)) {
    const std::size_t tag = svg.rfind('<', at);
    if (!svg.substr(tag).starts_with("<text")) continue;
    const std::size_t y = svg.find(" y=\"", tag);
    found.push_back(std::stod(svg.substr(y + 4)));
  }
  return found;
}

TEST(Plot, WritesNoNameOfALimitOverItsPoints) {
  Plot plot = two_series();
  plot.limits.push_back({"memory_triad 9 B/s", {{4e3, 31e9}, {4e6, 60e9}}, "limit"});
  EXPECT_EQ(count(plot_svg(plot).value(), "roof-name"), 0U) << "the legend has them";
  plot.has_names_beside = true;
  const std::string svg = plot_svg(plot).value();
  ASSERT_EQ(count(svg, "roof-name"), 1U) << "a rising line does not end beside the plot";
  const std::size_t text = svg.rfind("<text", svg.find("roof-name"));
  EXPECT_TRUE(svg.substr(text).starts_with("<text x=\"100%\" dx=\"8\"")) << svg.substr(text, 40);
}

TEST(Plot, JoinsNoPointsOfAboutTheSameSize) {
  Plot plot = two_series();
  plot.series.resize(1);
  plot.series[0].points.clear();
  for (const double size : {1e3, 1.003e3, 1e4, 1e5, 1e5, 1e6}) {
    const double y = 1e9 * static_cast<double>(1 + plot.series[0].points.size());
    plot.series[0].points.push_back({size, y, 0, 0, "tip"});
  }
  const std::string svg = plot_svg(plot).value();
  EXPECT_EQ(count(svg, "<path "), 6U);
  EXPECT_EQ(count(svg, "joined"), 3U) << "one line between two sizes, none within one";
}

TEST(Plot, NamesOfNearLimitsDoNotOverlap) {
  Plot plot = two_series();
  plot.has_names_beside = true;
  plot.limits = {{"one", {{4e5, 90e9}, {4e6, 90e9}}, "s0"},
                 {"other", {{4e5, 89e9}, {4e6, 89e9}}, "s1"}};
  const std::vector<double> positions = baselines(plot_svg(plot).value(), "roof-name");
  ASSERT_EQ(positions.size(), 2U);
  EXPECT_GE(positions[1] - positions[0], 12) << "a line of text";
}

TEST(Plot, MarksWhatLiesWithinItsSizes) {
  Plot plot = two_series();
  plot.steps = {{"L2", 1e6, "L2 1.00 MB"}, {"L3", 1e9, "L3 1.00 GB"}};
  const std::string svg = plot_svg(plot).value();
  EXPECT_NE(svg.find(">L2</text>"), std::string::npos);
  EXPECT_NE(svg.find("<title>L2 1.00 MB</title>"), std::string::npos);
  EXPECT_EQ(svg.find("L3"), std::string::npos);
}

}  // namespace
}  // namespace assay::page
