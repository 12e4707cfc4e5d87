#include <fmt/format.h>

#include <algorithm>

#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/text/few_samples.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

Json measured(const Limit& limit) {
  if (!limit.value) return number_cell(fmt::format("{}: {}", name(limit.status), limit.reason), {});
  Json cell = number_cell(si(*limit.value, limit.unit), limit.value);
  if (limit.ci_low && limit.ci_high) {
    const std::string whole = si(*limit.value, *limit.ci_low, *limit.ci_high, limit.unit);
    const std::size_t open = whole.find(" (");
    cell["interval"] = whole.substr(open + 2, whole.size() - open - 3);
  } else if (has_too_few_samples(limit.samples)) {
    cell["interval"] = too_few_samples;
  }
  if (limit.contended.value_or(false)) cell["note"] = "contended";
  return cell;
}

}  // namespace

Json limits_part(const Content& content) {
  const std::vector<RunSource>& runs = content.input.runs;
  const bool has_theory = std::ranges::any_of(runs, [](const RunSource& run) {
    return std::ranges::any_of(run.limits,
                               [](const Limit& one) { return one.theoretical.has_value(); });
  });
  Json rows = Json::array();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].limits.size(); ++i) {
      const Limit& limit = runs[r].limits[i];
      Json link = text_cell("");
      link["class"] = "id";
      link["pieces"] = pieces(limit.case_id);
      link["link"] = row_link(content.file_of(runs[r].limits_csv), i);
      Json cells = Json::array({head_cell(name(limit.limit))});
      cells.push_back(
          text_cell(limit.device + (runs.size() > 1 ? fmt::format(" of run {}", r + 1) : "")));
      cells.push_back(measured(limit));
      if (has_theory) {
        cells.push_back(number_cell(limit.theoretical ? si(*limit.theoretical, limit.unit) : "",
                                    limit.theoretical));
      }
      cells.push_back(std::move(link));
      rows.push_back(std::move(cells));
    }
  }
  if (rows.empty()) return nullptr;
  std::vector<Heading> headings{"Limit", "Device", Heading::of_numbers("Measured"), "Case"};
  if (has_theory) headings.insert(headings.end() - 1, Heading::of_numbers("In theory"));
  Json tables = Json::array();
  tables.push_back(table(has_theory ? "Measured limits (95% interval), and the theoretical figures "
                                      "by clocks and widths"
                                    : "Measured limits (95% interval)",
                         headings, std::move(rows)));
  return {
      {"title", "What bounds the figures"},
      {"remark",
       "Verified cases of their own measured these limits on the same device before the run. The "
       "best of several rows of a limit counts."},
      {"tables", std::move(tables)}};
}

}  // namespace assay::page
