#include "reports/text/links.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

/// The ends of links in the order in which they first occur.
std::vector<std::string> ends_of(const Links& links) {
  std::vector<std::string> ends;
  for (const Link& link : links.all) {
    for (const std::string& end : {link.from, link.to}) {
      if (std::ranges::find(ends, end) == ends.end()) ends.push_back(end);
    }
  }
  return ends;
}

/// A table of who sends against who receives.
Json matrix(const Content& content, const RunSource& run, const Links& links) {
  const std::vector<std::string> ends = ends_of(links);
  std::vector<Heading> headings{"from \\ to"};
  for (const std::string& end : ends) headings.push_back(Heading::of_numbers(end));
  Json rows = Json::array();
  for (const std::string& from : ends) {
    Json cells = Json::array({head_cell(from)});
    for (const std::string& to : ends) {
      const auto link = std::ranges::find_if(
          links.all, [&](const Link& one) { return one.from == from && one.to == to; });
      if (link == links.all.end()) {
        cells.push_back(text_cell(""));
        continue;
      }
      Json cell = number_cell(si(link->bytes_per_s, "B/s"), link->bytes_per_s);
      cell["link"] = row_link(content.file_of(run.results), run.rows[link->trial]);
      if (&*link == &links.slowest()) cell["note"] = "slowest";
      cells.push_back(std::move(cell));
    }
    rows.push_back(std::move(cells));
  }
  return table(fmt::format("{}: the slowest has {:.2f} of the median", links.what,
                           links.slowest().bytes_per_s / links.median_bytes_per_s),
               headings, std::move(rows));
}

}  // namespace

Json links_part(const Content& content) {
  Json tables = Json::array();
  for (const RunSource& run : content.input.runs) {
    for (const Links& links : links_of(run.trials)) {
      tables.push_back(matrix(content, run, links));
    }
  }
  if (tables.empty()) return nullptr;
  return {{"title", "Links between devices or ranks"}, {"tables", std::move(tables)}};
}

}  // namespace assay::page
