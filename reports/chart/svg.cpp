#include "reports/chart/svg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "reports/assets.h"
#include "reports/text/xml_text.h"

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

Svg Svg::fluid(double height, std::string_view title) {
  Svg svg(1, height, title);
  svg.is_fluid_ = true;
  return svg;
}

std::string Svg::across(double x) const {
  return is_fluid_ ? fmt::format("{:.4g}%", std::round(x * 1e4) / 100) : number(x);
}

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
        fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", across(x), number(y),
                    across(width), number(height)),
        style, tip);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style,
               std::string_view tip) {
  shape("line",
        fmt::format("x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", across(x1), number(y1), across(x2),
                    number(y2)),
        style, tip);
}

void Svg::circle(double x, double y, double radius, std::string_view style, std::string_view tip) {
  shape("circle", fmt::format("cx=\"{}\" cy=\"{}\" r=\"{}\"", across(x), number(y), number(radius)),
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
  const std::string transform =
      is_fluid_ ? fmt::format("style=\"transform:translate({},{}px)\"", across(x), number(y))
                : fmt::format("transform=\"translate({} {})\"", number(x), number(y));
  shape("path", fmt::format("d=\"{}\" {}", outlines.at(shape_of % mark_shapes), transform), style,
        tip);
}

void Svg::begin_link(std::string_view target) {
  has_links_ = true;
  body_ += fmt::format("<a href=\"{}\">\n", xml_text(target));
}

void Svg::end_link() { body_ += "</a>\n"; }

void Svg::text(double x, double y, std::string_view text, std::string_view style, Anchor anchor,
               double width, double aside) {
  const double letter = style == "title" ? bold_letter_width : letter_width;
  const std::string shown = width > 0 ? fitting(text, width, letter) : std::string(text);
  body_ += fmt::format("<text x=\"{}\"{} y=\"{}\" class=\"{}\" text-anchor=\"{}\">{}", across(x),
                       aside == 0 ? "" : fmt::format(" dx=\"{}\"", number(aside)), number(y),
                       xml_text(style), anchor_name(anchor), xml_text(shown));
  if (shown != text) body_ += fmt::format("<title>{}</title>", xml_text(text));
  body_ += "</text>\n";
}

std::string Svg::picture(std::string_view attributes, std::string_view style) const {
  const std::string size =
      is_fluid_
          ? fmt::format("width=\"100%\" height=\"{}\" class=\"chart fluid\"", number(height_))
          : fmt::format("width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" class=\"chart\"",
                        number(width_), number(height_));
  return fmt::format(
      "<svg {}{} role=\"{}\">\n<title>{}</title>\n{}<rect x=\"0\" y=\"0\" width=\"{}\" "
      "height=\"{}\" class=\"paper\"/>\n{}</svg>\n",
      attributes, size, has_links_ ? "group" : "img",  // a screen reader skips what is in an image
      xml_text(title_), style, across(width_), number(height_), body_);
}

std::string Svg::element() const { return picture("", ""); }

std::string Svg::document() const {
  return std::string(svg_document_begin) +
         picture("xmlns=\"http://www.w3.org/2000/svg\" ",
                 fmt::format("<style>\n{}</style>\n", chart_style()));
}

std::string_view chart_style() { return asset("chart/document.css"); }

}  // namespace assay
