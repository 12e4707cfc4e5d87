#include "reports/chart/svg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "reports/files/xml_text.h"

namespace assay {
namespace {

/// Rounds to tenths of a pixel, as fine as a screen shows.
std::string number(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

/// Mean width of a letter of a wide sans-serif face at 12 px.
constexpr double letter_width = 6.6;
constexpr double bold_letter_width = 7.9;

/// Returns the part of a UTF-8 text that fits, with an ellipsis if it was cut.
std::string fitting(std::string_view text, double width, double letter) {
  const auto most = static_cast<std::size_t>(width / letter);
  std::size_t letters = 0;
  std::size_t cut = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (++letters == most) cut = i;
  }
  return letters <= most ? std::string(text) : std::string(text.substr(0, cut)) + "…";
}

constexpr std::string_view anchor_name(Svg::Anchor anchor) {
  switch (anchor) {
    case Svg::Anchor::middle:
      return "middle";
    case Svg::Anchor::end:
      return "end";
    case Svg::Anchor::start:
      break;
  }
  return "start";
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title)
    : width_(width), height_(height), title_(title) {}

void Svg::begin_part(double x, double y) {
  body_ += fmt::format("<g transform=\"translate({} {})\">\n", number(x), number(y));
}

void Svg::end_part() { body_ += "</g>\n"; }

void Svg::shape(std::string_view name, const std::string& attributes, std::string_view style,
                std::string_view tip) {
  body_ += fmt::format("<{} {} class=\"{}\"", name, attributes, xml_text(style));
  body_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", xml_text(tip), name);
}

void Svg::rect(double x, double y, double width, double height, std::string_view style,
               std::string_view tip) {
  shape("rect",
        fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(x), number(y),
                    number(width), number(height)),
        style, tip);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style,
               std::string_view tip) {
  shape("line",
        fmt::format("x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", number(x1), number(y1), number(x2),
                    number(y2)),
        style, tip);
}

void Svg::circle(double x, double y, double radius, std::string_view style, std::string_view tip) {
  shape("circle", fmt::format("cx=\"{}\" cy=\"{}\" r=\"{}\"", number(x), number(y), number(radius)),
        style, tip);
}

void Svg::path(std::span<const std::pair<double, double>> points, std::string_view style) {
  std::string list;
  for (const auto& [x, y] : points) list += fmt::format(" {},{}", number(x), number(y));
  shape("polyline", fmt::format("points=\"{}\"", list.empty() ? "" : list.substr(1)), style, {});
}

void Svg::mark(std::size_t shape_of, double x, double y, std::string_view style,
               std::string_view tip) {
  // Outlines around the middle; all signs cover about the same area.
  constexpr std::array<std::string_view, mark_shapes> outlines{
      "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",             // circle
      "M-3.2-3.2h6.4v6.4h-6.4z",                                      // square
      "M0-4.4L4.4 3.4H-4.4z",                                         // triangle
      "M0-4.6L4.6 0L0 4.6L-4.6 0z",                                   // diamond
      "M0 4.4L4.4-3.4H-4.4z",                                         // triangle upside down
      "M-4.2-1.4h2.8v-2.8h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8z",  // plus
      "M-4.4-1.2h8.8v2.4h-8.8z",                                      // bar lying
      "M-1.2-4.4h2.4v8.8h-2.4z",                                      // bar standing
      "M-4-4L4 4V-4L-4 4z",                                           // hourglass
      "M-4-4L4 4H-4L4-4z"};                                           // the same on its side
  shape("path",
        fmt::format("d=\"{}\" transform=\"translate({} {})\"", outlines.at(shape_of % mark_shapes),
                    number(x), number(y)),
        style, tip);
}

void Svg::begin_link(std::string_view target) {
  has_links_ = true;
  body_ += fmt::format("<a href=\"{}\">\n", xml_text(target));
}

void Svg::end_link() { body_ += "</a>\n"; }

void Svg::text(double x, double y, std::string_view text, std::string_view style, Anchor anchor,
               double width) {
  const double letter = style == "title" ? bold_letter_width : letter_width;
  const std::string shown = width > 0 ? fitting(text, width, letter) : std::string(text);
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\" text-anchor=\"{}\">{}", number(x),
                       number(y), xml_text(style), anchor_name(anchor), xml_text(shown));
  if (shown != text) body_ += fmt::format("<title>{}</title>", xml_text(text));
  body_ += "</text>\n";
}

std::string Svg::picture(std::string_view attributes, std::string_view style) const {
  return fmt::format(
      "<svg {}width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" class=\"chart\" role=\"{}\">\n"
      "<title>{}</title>\n{}<rect x=\"0\" y=\"0\" width=\"{}\" height=\"{}\" "
      "class=\"paper\"/>\n{}</svg>\n",
      attributes, number(width_), number(height_), number(width_), number(height_),
      has_links_ ? "group" : "img",  // a screen reader skips the content of an image
      xml_text(title_), style, number(width_), number(height_), body_);
}

std::string Svg::element() const { return picture("", ""); }

std::string Svg::document() const {
  return std::string(svg_document_begin) +
         picture("xmlns=\"http://www.w3.org/2000/svg\" ",
                 fmt::format("<style>\n{}</style>\n", chart_style()));
}

std::string_view chart_style() {
  return R"(.chart { font: 12px system-ui, "DejaVu Sans", sans-serif; }
.chart .paper { fill: #ffffff; }
.chart .grid { stroke: #d8dce2; stroke-width: 1; }
.chart .point { fill: #2f6db3; }
.chart .level { stroke: #1b1f24; stroke-width: 2; }
.chart .range { fill: #e8a33d; fill-opacity: 0.3; }
.chart .gap { stroke: #b3261e; stroke-width: 2; }
.chart .title { fill: #1b1f24; font-weight: 600; }
.chart .label { fill: #565d67; }
.chart .change { fill: #8a4b00; font-weight: 600; }
.chart .limit { fill: none; stroke: #565d67; stroke-width: 1.5; stroke-dasharray: 6 3; }
.chart .s0 { fill: #0067a3; stroke: #0067a3; }
.chart .s1 { fill: #b35900; stroke: #b35900; }
.chart .s2 { fill: #00795a; stroke: #00795a; }
.chart .s3 { fill: #a03a86; stroke: #a03a86; }
.chart .s4 { fill: #6a6200; stroke: #6a6200; }
.chart .s5 { fill: #4d4d4d; stroke: #4d4d4d; }
.chart .s6 { fill: #a8201a; stroke: #a8201a; }
.chart .s7 { fill: #007a87; stroke: #007a87; }
@media screen and (prefers-color-scheme: dark) {
  .chart .paper { fill: #15181c; }
  .chart .grid { stroke: #363c45; }
  .chart .point { fill: #74b0f4; }
  .chart .level { stroke: #eceff3; }
  .chart .gap { stroke: #ff8a80; }
  .chart .title { fill: #eceff3; }
  .chart .label { fill: #a9b1bc; }
  .chart .change { fill: #ffc46b; }
  .chart .limit { stroke: #a9b1bc; }
  .chart .s0 { fill: #5fb4f0; stroke: #5fb4f0; }
  .chart .s1 { fill: #f2a65a; stroke: #f2a65a; }
  .chart .s2 { fill: #3fc7a0; stroke: #3fc7a0; }
  .chart .s3 { fill: #e59acb; stroke: #e59acb; }
  .chart .s4 { fill: #d3c74a; stroke: #d3c74a; }
  .chart .s5 { fill: #c4c4c4; stroke: #c4c4c4; }
  .chart .s6 { fill: #ff9a92; stroke: #ff9a92; }
  .chart .s7 { fill: #5fd0dc; stroke: #5fd0dc; }
}
.chart .spread, .chart .joined { fill: none; stroke-width: 1.5; }
)";
}

}  // namespace assay
