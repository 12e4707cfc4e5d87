#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

/// Beginning of a chart that is a file of its own.
inline constexpr std::string_view svg_document_begin =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?drawn-by assay?>\n";

/// Writes a chart as SVG: shapes in the order drawn, in pixels from the upper left corner. The
/// class of a shape sets its look, so that one style serves light and dark pages; see chart_style.
/// All text is escaped.
class Svg {
 public:
  /// `title` is read aloud by screen readers, and shown over shapes without a tip.
  Svg(double width, double height, std::string_view title);
  /// A chart as wide as its place: x runs from 0 to 1 of the width, y and all text are in pixels,
  /// so that text stays readable at any width. Text may stand beside it, in the margin that its
  /// style leaves. Has no parts and no paths, and is no document.
  static Svg fluid(double height, std::string_view title);

  /// A part with its own origin; parts may lie in parts.
  void begin_part(double x, double y);
  void end_part();

  // A `tip` is shown while the pointer rests on the shape.
  void rect(double x, double y, double width, double height, std::string_view style,
            std::string_view tip = {});
  void line(double x1, double y1, double x2, double y2, std::string_view style,
            std::string_view tip = {});
  void circle(double x, double y, double radius, std::string_view style, std::string_view tip = {});
  void path(std::span<const std::pair<double, double>> points, std::string_view style);
  /// One of `mark_shapes` signs, so that series differ by more than their colour.
  void mark(std::size_t shape, double x, double y, std::string_view style,
            std::string_view tip = {});
  static constexpr std::size_t mark_shapes = 10;
  static constexpr double least_mark_height = 2.4;
  static constexpr std::size_t dot = 0;
  static constexpr std::size_t triangle_up = 2;
  static constexpr std::size_t triangle_down = 4;
  /// Classes s0 to s7 are their colours. Signs change with another period, so that 40 series
  /// differ.
  static constexpr std::size_t series_colours = 8;

  /// Links all shapes until its end to `target`, a URL of our own.
  void begin_link(std::string_view target);
  void end_link();

  enum class Anchor { start, middle, end };
  /// `y` is the baseline. Text wider than a given `width` is cut, with the whole text as its tip.
  /// `aside` moves it to the right, in pixels.
  void text(double x, double y, std::string_view text, std::string_view style,
            Anchor anchor = Anchor::start, double width = 0, double aside = 0);

  /// Returns the chart for a page that has chart_style; no part may be open.
  std::string element() const;
  /// Returns the chart as a file of its own.
  std::string document() const;

 private:
  std::string across(double x) const;
  void shape(std::string_view name, const std::string& attributes, std::string_view style,
             std::string_view tip);
  std::string picture(std::string_view attributes, std::string_view style) const;

  double width_;
  double height_;
  std::string title_;
  std::string body_;
  bool has_links_ = false;
  bool is_fluid_ = false;
};

/// Style sheet of all charts, for light and dark: classes paper, grid, point, level, range, gap,
/// change, title, label, limit, s0 to s7 for series, and with these joined for a line and spread
/// for an interval.
std::string_view chart_style();

}  // namespace assay
