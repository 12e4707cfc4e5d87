#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/chart/chart_axis.h"
#include "reports/chart/svg.h"
#include "reports/page/sections.h"
#include "reports/si.h"

namespace assay::page {
namespace {

constexpr double forest_width = 300;
constexpr double height = 18;
constexpr double edge = 8;

double x_of(const ChartAxis& axis, double ratio) {
  return edge + std::clamp(axis.place(ratio), 0.0, 1.0) * (forest_width - 2 * edge);
}

/// Axis of all rows, so that they can be compared.
ChartAxis axis_for(const std::vector<ForestRow>& rows) {
  double low = 1;
  double high = 1;
  for (const ForestRow& row : rows) {
    low = std::min({low, row.ratio.value, 1 / (1 + row.margin)});
    high = std::max({high, row.ratio.value, 1 + row.margin});
    if (row.ratio.low > 0) {
      // Cuts a wild interval, which would squeeze the others.
      low = std::min(low, std::max(row.ratio.low, row.ratio.value / 2));
      high = std::max(high, std::min(row.ratio.high, row.ratio.value * 2));
    }
  }
  return logarithmic_axis(low, high, 7, "");
}

void add_lines(Svg& svg, const ChartAxis& axis, double margin) {
  svg.line(x_of(axis, 1), 0, x_of(axis, 1), height, "grid");
  if (margin <= 0) return;
  for (const double at : {1 + margin, 1 / (1 + margin)}) {
    svg.line(x_of(axis, at), 0, x_of(axis, at), height, "limit");
  }
}

std::string row_svg(const ChartAxis& axis, const ForestRow& row) {
  Svg svg(forest_width, height, row.name + ": " + ratio_text(row.ratio.value));
  add_lines(svg, axis, row.margin);
  const std::string style = "f-" + (row.verdict.empty() ? "none" : row.verdict);
  if (row.ratio.low > 0) {
    svg.line(x_of(axis, row.ratio.low), height / 2, x_of(axis, row.ratio.high), height / 2,
             style + " spread");
  }
  svg.mark(0, x_of(axis, row.ratio.value), height / 2, style);
  return svg.element();
}

std::string axis_svg(const ChartAxis& axis) {
  Svg svg(forest_width, height, "ratio of times, logarithmic: left is faster, right is slower");
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    svg.text(x_of(axis, axis.ticks[i]), 13, axis.labels[i], "label", Svg::Anchor::middle);
  }
  return svg.element();
}

}  // namespace

double severity_of(const ForestRow& row) {
  const double distance = std::abs(std::log(row.ratio.value));
  if (!(distance > 0)) return 0;
  if (row.ratio.low <= 0) return -1;  // its certainty is not known
  return 2 * distance / std::log(row.ratio.high / row.ratio.low);
}

namespace {

/// Order of rows: those surely slower, then those without an interval and beyond the margin, then
/// the rest.
int rank_of(const ForestRow& row) {
  if (row.verdict == "regressed" || row.verdict == "slower") return 2;
  const bool has_interval = row.ratio.low > 0;
  return !has_interval && std::abs(std::log(row.ratio.value)) > std::log1p(row.margin) ? 1 : 0;
}

}  // namespace

void add_forest(Html& html, std::string_view caption, std::string_view verdict_title,
                std::vector<ForestRow> rows, std::size_t most) {
  std::erase_if(rows, [](const ForestRow& row) {
    return !(row.ratio.value > 0) || !std::isfinite(row.ratio.value);
  });
  if (rows.empty()) return;
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const ForestRow& row) {
    return std::pair(rank_of(row), severity_of(row));
  });
  const std::size_t all = rows.size();
  rows.resize(std::min(all, most));
  const ChartAxis axis = axis_for(rows);
  {
    const Table table(html, caption,
                      {"Case", "", Heading::of_numbers("Ratio of times (interval)"),
                       "faster – slower", std::string(verdict_title)});
    html.begin("tr", {{"class", "axis"}});
    for (int i = 0; i < 3; ++i) html.element("td", "");
    html.begin("td");
    html.raw(axis_svg(axis));
    html.end("td");
    html.element("td", "");
    html.end("tr");
    for (const ForestRow& row : rows) {
      html.begin("tr");
      add_case(html, row.name, row.link);
      html.element("td", row.detail);
      add_number(html,
                 ratio_text(row.ratio.value) +
                     (row.ratio.low > 0 ? fmt::format(" ({} to {})", ratio_text(row.ratio.low),
                                                      ratio_text(row.ratio.high))
                                        : ""),
                 row.ratio.value);
      html.begin("td", {{"class", "forest"}});
      html.raw(row_svg(axis, row));
      html.end("td");
      html.element("td", row.verdict);
      html.end("tr");
    }
  }
  if (rows.size() < all) {
    html.element("p", fmt::format("{} more, less sure to differ than these, are not drawn.",
                                  all - rows.size()));
  }
}

}  // namespace assay::page
