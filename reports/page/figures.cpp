#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/page/cells.h"
#include "reports/page/charts.h"
#include "reports/text/key_figures.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

constexpr double bars_top = 22;
constexpr double row_height = 20;  // of a figure of one column
constexpr double bar_step = 14;    // from column to column
constexpr double gap = 8;          // between figures of several columns
constexpr double name_width = 118;
constexpr double beyond_share = 1.05;  // of the limit: more than noise
constexpr std::string_view not_run = "not run";

struct Shown {
  KeyMeasure measure;
  std::string link;
};

/// A key figure in each of the columns.
struct Line {
  const KeyFigure* figure = nullptr;
  std::vector<std::optional<Shown>> shown;

  /// Returns whether a column has the figure at another case than the first that has it.
  bool is_other_case(std::size_t c) const {
    const auto first = std::ranges::find_if(shown, [](const auto& one) { return one.has_value(); });
    return shown[c] && shown[c]->measure.case_id != (*first)->measure.case_id;
  }
  /// The best of the columns, above 0.
  double best() const {
    double best = 0;
    for (const auto& one : shown) {
      if (!one) continue;
      const double value = one->measure.value;
      best = best == 0 ? value : is_time(*figure) ? std::min(best, value) : std::max(best, value);
    }
    return best;
  }
  /// How good a column is beside the best one, from 0 to 1.
  double beside_best(const KeyMeasure& measure) const {
    return is_time(*figure) ? best() / measure.value : measure.value / best();
  }
};

void keep(const KeyFigure& figure, std::optional<Shown>& held, std::optional<KeyMeasure> measure,
          std::string link) {
  if (!measure || !(measure->value > 0)) return;
  if (held && !stands_before(figure, *measure, held->measure)) return;
  held = Shown{*std::move(measure), std::move(link)};
}

/// Takes the records and limits of one column; what stands for a device has none.
std::optional<Shown> shown_in(const Content& content, std::size_t c, const KeyFigure& figure) {
  const Column& column = content.columns[c];
  const RunSource& run = content.input.runs[column.run];
  std::optional<Shown> held;
  if (!column.stand_in.empty()) return held;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const Record& trial = run.trials[i];
    if (trial.op != figure.op || content.columns.of(column.run, trial.device) != c) continue;
    keep(figure, held, measure_of(figure, trial), row_link(column.run, run.rows[i]));
  }
  for (std::size_t i = 0; i < run.limits.size(); ++i) {
    if (run.limits[i].device != column.device) continue;
    keep(figure, held, measure_of(figure, run.limits[i]),
         row_link(content.file_of(run.limits_csv), i));
  }
  return held;
}

std::vector<std::size_t> columns_with_figures(const Content& content) {
  std::vector<std::size_t> found;
  for (std::size_t c = 0; c < content.columns.size() && found.size() < max_series; ++c) {
    if (std::ranges::any_of(key_figures(), [&](const KeyFigure& figure) {
          return shown_in(content, c, figure).has_value();
        })) {
      found.push_back(c);
    }
  }
  return found;
}

std::string value_text(const KeyFigure& figure, const KeyMeasure& measure) {
  return si(measure.value, unit_of(figure));
}

/// Bars of one column are shares of limits, those of several are beside the best one.
class FigureBars {
 public:
  FigureBars(const Content& content, const std::vector<Line>& lines,
             const std::vector<std::size_t>& columns)
      : content_(content), lines_(lines), columns_(columns) {}

  std::string draw() const {
    const bool one = columns_.size() == 1;
    const double height = one ? row_height : gap + bar_step * static_cast<double>(columns_.size());
    const double bottom = bars_top + height * static_cast<double>(lines_.size());
    Svg svg = Svg::fluid(bottom + 4, "Figures of each machine");
    for (const double tick : {0.0, 0.5, 1.0}) draw_tick(svg, tick, bottom);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const double top = bars_top + height * static_cast<double>(i);
      svg.text(0, top + (one ? row_height / 2 + 4 : gap + 9), lines_[i].figure->name, "name",
               Svg::Anchor::end, name_width, -8);
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const double middle =
            one ? top + row_height / 2 : top + gap + bar_step * (static_cast<double>(c) + 0.5) - 2;
        draw_bar(svg, lines_[i], c, middle);
      }
    }
    return svg.element();
  }

 private:
  bool is_one() const { return columns_.size() == 1; }

  void draw_tick(Svg& svg, double tick, double bottom) const {
    const bool is_end = tick == 1;
    const double at = position(tick);
    svg.line(at, bars_top - 4, at, bottom, is_end && is_one() ? "limit" : "grid");
    svg.text(at, 11, is_end ? (is_one() ? "limit" : "best") : fmt::format("{:.0f}%", 100 * tick),
             is_end && is_one() ? "label limit-name" : "label", Svg::Anchor::middle);
  }

  /// A share beyond the limit ends at the right edge; its figure says how much it is.
  double position(double share) const {
    return std::clamp(share / (is_one() ? 1.1 : 1.0), 0.0, 1.0);
  }

  void draw_bar(Svg& svg, const Line& line, std::size_t c, double y) const {
    const std::optional<Shown>& shown = line.shown[c];
    if (!shown) {
      svg.text(1, y + 4, not_run, "label", Svg::Anchor::start, 0, 8);
      return;
    }
    const KeyMeasure& measure = shown->measure;
    const std::optional<double> length =
        is_one() ? measure.share : std::optional(line.beside_best(measure));
    const std::string tip =
        fmt::format("{}: {}, {} on {}", line.figure->name, measure_text(*line.figure, measure),
                    measure.case_id, content_.columns[columns_[c]].label);
    svg.begin_link(shown->link);
    if (length) {
      const bool is_beyond = measure.share.value_or(0) > beyond_share;
      const std::string style = !is_one() ? series_style(c) : is_beyond ? "bar-beyond" : "bar";
      const double half = is_one() ? 6 : 4;
      svg.rect(0, y - half, position(*length), 2 * half, style, tip);
      if (!is_one()) svg.mark(c, position(*length), y, series_style(c), tip);
    }
    std::string text = value_text(*line.figure, measure);
    if (line.is_other_case(c)) text += " *";
    if (is_one() && measure.share) text += fmt::format(" · {:.0f}%", 100 * *measure.share);
    svg.text(1, y + 4, text, "figure", Svg::Anchor::start, 0, 8);
    svg.end_link();
  }

  const Content& content_;
  const std::vector<Line>& lines_;
  const std::vector<std::size_t>& columns_;
};

Json cell_of(const Line& line, const std::optional<Shown>& shown) {
  if (!shown) return number_cell(not_run, std::nullopt);
  const KeyMeasure& measure = shown->measure;
  Json cell = number_cell(value_text(*line.figure, measure), measure.value);
  if (measure.low > 0) {
    const std::string whole = si(measure.value, measure.low, measure.high, unit_of(*line.figure));
    const std::size_t open = whole.find(" (");
    cell["interval"] = whole.substr(open + 2, whole.size() - open - 3);
  }
  cell["link"] = shown->link;
  cell["tip"] = measure.case_id + " on " + measure.device;
  const std::string share = share_text(measure);
  cell["below"] = share.empty() ? measure.case_id : share + " · " + measure.case_id;
  return cell;
}

Json table_of(const Content& content, const std::vector<Line>& lines,
              const std::vector<std::size_t>& columns) {
  std::vector<Heading> headings{"Figure"};
  for (const std::size_t c : columns) {
    headings.push_back(Heading::of_numbers(content.columns[c].label));
  }
  Json rows = Json::array();
  for (const Line& line : lines) {
    Json cells = Json::array({head_cell(line.figure->name)});
    for (const auto& shown : line.shown) cells.push_back(cell_of(line, shown));
    rows.push_back(std::move(cells));
  }
  return table("Each figure, its share of the limit and its case", headings, std::move(rows));
}

}  // namespace

Json figures_part(const Content& content) {
  const std::vector<std::size_t> columns = columns_with_figures(content);
  if (columns.empty()) return nullptr;
  std::vector<Line> lines;
  for (const KeyFigure& figure : key_figures()) {
    Line line{.figure = &figure};
    for (const std::size_t c : columns) line.shown.push_back(shown_in(content, c, figure));
    lines.push_back(std::move(line));
  }
  std::vector<Look> looks;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    looks.push_back({i, content.columns[columns[i]].label});
  }
  return {{"title", "The figures that buyers compare"},
          {"subtitle", columns.size() == 1
                           ? "bars: share of the limit, of a limit that of theory; brown: beyond it"
                           : "bars: beside the best of the columns; longer is better"},
          {"legend", legend_of(looks)},
          {"chart", FigureBars(content, lines, columns).draw()},
          {"tables", Json::array({table_of(content, lines, columns)})}};
}

}  // namespace assay::page
