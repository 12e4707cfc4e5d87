#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/page/cells.h"
#include "reports/page/charts.h"
#include "reports/page/content.h"
#include "reports/page/stand_ins.h"
#include "reports/page/times.h"
#include "reports/text/quality.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

/// One op and its weight.
struct Line {
  const GridOp* op = nullptr;
  double weight = 0;  // lines with more of it come first
};

/// Returns how far several columns are apart, or how far one is from its limit.
double weight_of(const GridOp& op, const Content& content, const Times& times) {
  double apart = 0;
  double below_limit = -1;
  for (std::size_t c = 0; c < op.rates.size(); ++c) {
    const Record* const trial = op.rates[c].trial;
    if (trial == nullptr) continue;
    if (const auto ratio = times.ratio(c, *trial, content.base)) {
      apart = std::max(apart, std::abs(std::log(ratio->value)));
    }
    if (trial->fraction_of_limit) {
      below_limit = std::max(below_limit, 1 - *trial->fraction_of_limit);
    }
  }
  return content.rated.size() > 1 ? apart : below_limit;
}

/// The quality of the figures shown, over all columns.
Quality quality_of_lines(const std::vector<Line>& lines) {
  Quality quality;
  for (const Line& line : lines) {
    for (const TrialRow& rated : line.op->rates) {
      if (rated.trial != nullptr) quality.add(*rated.trial);
    }
  }
  return quality;
}

std::string share_text(const Record& trial) {
  return trial.fraction_of_limit ? fmt::format("{:.0f}%", *trial.fraction_of_limit * 100) : "";
}

Json share_cell(const Record& trial) {
  Json cell = number_cell(share_text(trial), trial.fraction_of_limit);
  if (trial.fraction_ci_low && trial.fraction_ci_high) {
    cell["interval"] = fmt::format("{:.0f}% to {:.0f}%", 100 * *trial.fraction_ci_low,
                                   100 * *trial.fraction_ci_high);
  }
  return cell;
}

Json rate_cell(const Content& content, const TrialRow& rated, std::size_t column,
               bool mostly_contended) {
  if (rated.trial == nullptr) return number_cell("", std::nullopt);
  const Record& trial = *rated.trial;
  const Figure figure = rate_figure(trial);
  Json cell = number_cell(figure.value, rate(trial)->per_s);
  cell["interval"] = figure.interval;
  cell["link"] = row_link(content.columns[column].run, rated.row);
  cell["tip"] = lane_text(trial) + ", " + trial.timing;
  const std::string note = remarks(trial, mostly_contended);
  cell["note"] = note;
  cell["calm"] = note == "quiet";
  return cell;
}

/// Below the rate of one of several columns: its share of the limit, and its time over the
/// baseline's.
std::string below_text(const Content& content, const Times& times, const Record& trial,
                       std::size_t column) {
  std::string text;
  if (trial.fraction_of_limit) text = share_text(trial) + " of limit";
  const auto ratio = times.ratio(column, trial, content.base);
  if (ratio && column != content.base) {
    text += (text.empty() ? "" : " · ") + speed_words(ratio->value);
  }
  return text;
}

Json cells_of(const Content& content, const Times& times, const GridOp& op, bool mostly_contended) {
  const bool several = content.rated.size() > 1;
  Json name = head_cell(op.name());
  name["below"] = op.shown->dtype + " " + op.shown->params;
  Json cells = Json::array({std::move(name)});
  for (const std::size_t c : content.rated) {
    Json cell = rate_cell(content, op.rates[c], c, mostly_contended);
    const Record* const trial = op.rates[c].trial;
    if (several) {
      if (trial != nullptr) cell["below"] = below_text(content, times, *trial, c);
      cells.push_back(std::move(cell));
      continue;
    }
    cells.push_back(std::move(cell));
    cells.push_back(trial == nullptr ? number_cell("", std::nullopt) : share_cell(*trial));
    const auto time = trial == nullptr ? std::nullopt : shown_time_s(*trial);
    cells.push_back(number_cell(time ? si(*time, "s") : "", time));
  }
  return cells;
}

std::string hint_of(const Quality& quality, const Content& content) {
  std::string hint = quality.busy_sentence();
  if (!hint.empty()) hint += " ";
  return hint +
         (content.rated.size() > 1
              ? fmt::format("Faster and slower are than {}.", content.columns[content.base].label)
              : "The ops that are farthest from their limit come first.");
}

}  // namespace

Json speed_part(const Content& content) {
  const Times times(content);
  std::vector<Line> lines;
  for (const GridOp& op : content.grid) {
    if (op.shown != nullptr) lines.push_back({&op, weight_of(op, content, times)});
  }
  if (lines.empty()) return nullptr;
  std::ranges::stable_sort(lines, std::ranges::greater(), &Line::weight);
  const bool several = content.rated.size() > 1;
  std::vector<Heading> headings{"Op"};
  for (const std::size_t c : content.rated) {
    headings.push_back(Heading::of_numbers(content.columns[c].label));
  }
  if (!several) {
    headings.push_back(Heading::of_numbers("of limit"));
    headings.push_back(Heading::of_numbers("Time"));
  }
  const Quality quality = quality_of_lines(lines);
  Json rows = Json::array();
  for (const Line& line : lines) {
    rows.push_back(cells_of(content, times, *line.op, quality.is_mostly_contended()));
  }
  Json rates = table("Rate of each op at one case", headings, std::move(rows));
  rates["hint"] = hint_of(quality, content);
  return {{"title", "How fast, beside what is possible"},
          {"bars", limit_bars(content)},
          {"folded", !several},  // the bars of one column tell the same
          {"tables", Json::array({std::move(rates)})}};
}

}  // namespace assay::page
