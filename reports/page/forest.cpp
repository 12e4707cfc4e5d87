#include "reports/page/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/chart/chart_axis.h"
#include "reports/chart/svg.h"
#include "reports/page/cells.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

constexpr double forest_height = 18;

/// Slower and faster differ by the direction of their mark, and not by colour alone.
enum class Direction { slower, faster, neither };

Direction direction_of(const ForestRow& row) {
  if (row.verdict == "regressed" || row.verdict == "slower") return Direction::slower;
  if (row.verdict == "improved" || row.verdict == "faster") return Direction::faster;
  return Direction::neither;
}

std::size_t mark_of(Direction direction) {
  return direction == Direction::slower   ? Svg::triangle_up
         : direction == Direction::faster ? Svg::triangle_down
                                          : Svg::dot;
}

std::string_view arrow_of(Direction direction) {
  return direction == Direction::slower ? "▲ " : direction == Direction::faster ? "▼ " : "";
}

double x_of(const ChartAxis& axis, double ratio) {
  return std::clamp(axis.position(ratio), 0.0, 1.0);
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
  svg.line(x_of(axis, 1), 0, x_of(axis, 1), forest_height, "grid");
  if (margin <= 0) return;
  for (const double at : {1 + margin, 1 / (1 + margin)}) {
    svg.line(x_of(axis, at), 0, x_of(axis, at), forest_height, "limit");
  }
}

std::string row_svg(const ChartAxis& axis, const ForestRow& row) {
  Svg svg = Svg::fluid(forest_height, row.name + ": " + speed_words(row.ratio.value));
  add_lines(svg, axis, row.margin);
  const std::string style = "f-" + (row.verdict.empty() ? "none" : row.verdict);
  if (row.ratio.low > 0) {
    svg.line(x_of(axis, row.ratio.low), forest_height / 2, x_of(axis, row.ratio.high),
             forest_height / 2, style + " spread");
  }
  svg.mark(mark_of(direction_of(row)), x_of(axis, row.ratio.value), forest_height / 2, style);
  return svg.element();
}

std::string axis_svg(const ChartAxis& axis) {
  Svg svg =
      Svg::fluid(forest_height, "ratio of times, logarithmic: left is faster, right is slower");
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    svg.text(x_of(axis, axis.ticks[i]), 13, axis.labels[i], "label", Svg::Anchor::middle);
  }
  return svg.element();
}

Json chart_cell(std::string chart) {
  Json cell = text_cell("");
  cell["class"] = "forest";
  cell["chart"] = std::move(chart);
  return cell;
}

/// The row above all others, with the ticks of their axis.
Json axis_row(const ChartAxis& axis) {
  Json cells = Json::array();
  for (int i = 0; i < 3; ++i) cells.push_back(text_cell(""));
  cells.push_back(chart_cell(axis_svg(axis)));
  cells.push_back(text_cell(""));
  return {{"mark", "axis"}, {"cells", std::move(cells)}};
}

Json row_of(const ChartAxis& axis, const ForestRow& row) {
  Json ratio = number_cell(speed_words(row.ratio.value), row.ratio.value);
  if (row.ratio.low > 0) {
    ratio["interval"] = fmt::format("{} ({} to {})", ratio_text(row.ratio.value),
                                    ratio_text(row.ratio.low), ratio_text(row.ratio.high));
  }
  Json verdict = text_cell(std::string(arrow_of(direction_of(row))) + row.verdict);
  verdict["class"] = "verdict-" + (row.verdict.empty() ? "none" : row.verdict);
  Json detail = text_cell(row.detail);
  detail["class"] = row.detail.size() < 20 ? "short" : "";
  Json cells = Json::array({case_cell(row.name, row.link)});
  cells.push_back(std::move(detail));
  cells.push_back(std::move(ratio));
  cells.push_back(chart_cell(row_svg(axis, row)));
  cells.push_back(std::move(verdict));
  return {{"mark", ""}, {"cells", std::move(cells)}};
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

Json forest(std::string_view caption, std::string_view verdict_title, std::vector<ForestRow> rows,
            std::size_t most) {
  std::erase_if(rows, [](const ForestRow& row) {
    return !(row.ratio.value > 0) || !std::isfinite(row.ratio.value);
  });
  if (rows.empty()) return nullptr;
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const ForestRow& row) {
    return std::pair(rank_of(row), severity_of(row));
  });
  const std::size_t all = rows.size();
  rows.resize(std::min(all, most));
  const ChartAxis axis = axis_for(rows);
  Json lines = Json::array({axis_row(axis)});
  for (const ForestRow& row : rows) lines.push_back(row_of(axis, row));
  Json made = table(caption,
                    {"Case", "Note", Heading::of_numbers("Time, and its ratio (95%)"),
                     "faster – slower", std::string(verdict_title)},
                    std::move(lines));
  if (rows.size() < all) {
    made["hint"] =
        fmt::format("{} more, less sure to differ than these, are not drawn.", all - rows.size());
  }
  return made;
}

}  // namespace assay::page
