#include "reports/page/plot.h"

#include <gtest/gtest.h>

#include <limits>

#include "reports/page/dot_plot.h"
#include "tests/unit/reports_support.h"

namespace assay::page {
namespace {

using testing_support::count;
using testing_support::xml_fault;

Plot two_series() {
  Plot plot{.title = "copy"};
  plot.x = {"bytes of a launch", "B", true};
  plot.y = {"bandwidth", "B/s"};
  plot.series = {
      {"f32", {{4e6, 30e9, 29e9, 31e9, "second", "#row=0.2"}, {4e3, 90e9, 0, 0, "first"}}},
      {"f64", {{4e6, 20e9, 0, 0, "a <tip>"}}, false}};
  plot.limits = {{"memory_copy 31 GB/s", {{4e3, 31e9}, {4e6, 31e9}}}};
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
  EXPECT_NE(svg.find("bandwidth in GB/s"), std::string::npos);
  EXPECT_NE(svg.find("bytes of a launch in B"), std::string::npos);
  EXPECT_NE(svg.find("memory_copy 31 GB/s"), std::string::npos);
}

/// Returns the vertical place of the first mark with this tip.
double y_of(const std::string& svg, const std::string& tip) {
  const std::size_t at = svg.find("<title>" + tip);
  const std::string place = svg.substr(0, at).substr(svg.rfind("translate(", at) + 10);
  return std::stod(place.substr(place.find(' ') + 1));
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

TEST(DotPlot, HasALineForEachThingAndAMarkForEachValue) {
  DotPlot plot{.title = "ops", .axis = {"bandwidth", "B/s"}, .series = {"cpu", "cuda:0"}};
  plot.rows = {{"add", {PlotPoint{0, 2e9, 1e9, 3e9, "slow", "#row=0.1"}, PlotPoint{0, 4e9}}},
               {"exp <&>", {std::nullopt, PlotPoint{0, 1e9}}}};
  const std::string svg = dot_plot_svg(plot);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_NE(svg.find("exp &lt;&amp;&gt;"), std::string::npos);
  EXPECT_EQ(count(svg, "<path "), 5U) << "three values, two in the legend";
  EXPECT_EQ(count(svg, "spread"), 1U);
  EXPECT_NE(svg.find("bandwidth in GB/s"), std::string::npos);
}

}  // namespace
}  // namespace assay::page
