#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/records/limit.h"
#include "reports/page/times.h"
#include "reports/rate.h"
#include "reports/si.h"

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
  return content.columns.size() > 1 ? apart : below_limit;
}

std::string remarks(const Record& trial) {
  std::string text;
  if (trial.contended.value_or(false)) text += " contended";
  if (trial.throttled.value_or(false)) text += " throttled";
  if (trial.beyond_limit.value_or(false)) text += " beyond its limit";
  return text;
}

void add_cells(Html& html, const Content& content, const Times& times, const TrialRow& rated,
               std::size_t column) {
  const std::size_t columns = content.columns.size();
  if (rated.trial == nullptr) {
    for (int i = 0; i < (columns > 1 ? 3 : 2); ++i) add_number(html, "", std::nullopt);
    return;
  }
  const Record& trial = *rated.trial;
  html.begin("td", {{"class", "number"}, {"data-v", fmt::format("{}", rate(trial)->per_s)}});
  html.element("a", rate_text(trial),
               {{"href", row_link(content.columns[column].run, rated.row)},
                {"title", lane_text(trial) + ", " + trial.timing}});
  if (const std::string noted = remarks(trial); !noted.empty()) html.element("small", noted);
  html.end("td");
  const auto share = trial.fraction_of_limit;
  add_number(html, share ? fmt::format("{:.0f}%", *share * 100) : "", share);
  if (columns == 1) return;
  const auto ratio = times.ratio(column, trial, content.base);
  const bool is_base = column == content.base;
  add_number(html,
             is_base ? "1"
             : ratio ? ratio_text(ratio->value)
                     : "",
             is_base ? std::optional(1.0)
             : ratio ? std::optional(ratio->value)
                     : std::nullopt);
}

}  // namespace

void add_speed(Html& html, const Content& content) {
  const Times times(content);
  std::vector<Line> lines;
  for (const GridOp& op : content.grid) {
    if (op.shown != nullptr) lines.push_back({&op, weight_of(op, content, times)});
  }
  if (lines.empty()) return;
  std::ranges::stable_sort(lines, std::ranges::greater(), &Line::weight);
  const bool several = content.columns.size() > 1;
  const Part part(html, "speed", "How fast, and how close to the limit");
  html.element(
      "p",
      "Each figure is of one case of its op, the largest that most columns have (in f32 if "
      "there is one). It is at the median time of one launch, with the 95% interval of that "
      "median within its process; processes may vary more. \"Of limit\" is the shortest time "
      "that the measured limit of the device allows, over that time.");
  html.element("p", several ? fmt::format("\"Time\" is relative to {}: above 1 is slower. The ops "
                                          "that differ most come first.",
                                          content.columns[content.base].label)
                            : "The ops that are farthest from their limit come first.");
  std::vector<Heading> header{"Op"};
  for (const Column& column : content.columns.all()) {
    header.push_back(Heading::of_numbers(column.label));
    header.push_back(Heading::of_numbers("of limit"));
    if (several) header.push_back(Heading::of_numbers("time"));
  }
  const Table table(html, "Rate of each op at one case", header);
  for (const Line& line : lines) {
    const GridOp& op = *line.op;
    html.begin("tr");
    html.begin("th", {{"scope", "row"}});
    html.text(op.name());
    html.element("small", " " + op.shown->dtype + " " + op.shown->params, {{"class", "of"}});
    html.end("th");
    for (std::size_t c = 0; c < op.rates.size(); ++c) {
      add_cells(html, content, times, op.rates[c], c);
    }
    html.end("tr");
  }
}

}  // namespace assay::page
