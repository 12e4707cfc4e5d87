#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/page/sections.h"

namespace assay::page {
namespace {

/// Limits of a fast page: beyond these it shows only ops, and cases that are not plainly right.
constexpr std::size_t max_cases = 3000;
constexpr std::size_t max_odd_cases = 500;

std::string_view sign_of(const Cell& cell) {
  if (cell.wrong > 0) return "✗";
  if (cell.broken > 0) return "!";
  if (cell.right > 0) return "✓";
  return cell.expected > 0 ? "○" : "–";
}

std::string_view style_of(const Cell& cell) {
  if (cell.wrong > 0) return "cell wrong";
  if (cell.broken > 0) return "cell broken";
  return cell.right > 0 ? "cell right" : "cell skip";
}

std::string counts(const Cell& cell) {
  std::string text = fmt::format("{}/{}", cell.right, cell.total());
  const auto add = [&](std::int64_t n, std::string_view what) {
    if (n > 0) text += fmt::format(" {} {}", n, what);
  };
  add(cell.wrong, "wrong");
  add(cell.broken, "broken");
  add(cell.skipped, "skipped");
  add(cell.expected, "expected");
  return text;
}

void add_cell(Html& html, const Content& content, const Cell& cell, std::size_t column,
              bool is_case) {
  if (cell.worst == nullptr) {
    html.element("td", "", {{"class", "cell none"}});
    return;
  }
  const double rank = static_cast<double>(cell.wrong * 4 + cell.broken * 2) + cell.error / 2;
  html.begin("td", {{"class", style_of(cell)}, {"data-v", fmt::format("{:.4g}", rank)}});
  html.begin("a", {{"href", row_link(content.columns[column].run, cell.worst_row)}});
  html.text(sign_of(cell));
  if (!is_case || !cell.is_plain()) html.text(" " + counts(cell));
  const bool is_right = cell.wrong + cell.broken + cell.expected == 0;
  if (cell.error == 0 && is_right && cell.right > 0) html.text(" exact");
  // An exact oracle gives no measure to a wrong result.
  if (cell.error > (is_right ? 0 : 1)) html.text(fmt::format(" {:.2g}×", cell.error));
  html.end("a");
  html.end("td");
}

bool is_plain(const GridCase& one) { return std::ranges::all_of(one.cells, &Cell::is_plain); }

/// Status of the worst of its trials.
int severity_of(const GridCase& one) {
  int most = 0;
  for (const Cell& cell : one.cells) {
    if (cell.worst == nullptr) continue;
    most = std::max(most, severity(*cell.worst));
  }
  return most;
}

/// Fragment that makes the table of results show the cases of an op.
std::string search_link(const GridOp& op) {
  const std::string& id = op.cases.front().case_id;
  const std::string prefix = op.name() + "/";
  std::string link = "#q=";
  for (const char c : id.starts_with(prefix) ? prefix : id) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' ||
                          c == '_' || c == '-' || c == '.';
    link += is_plain ? std::string(1, c)
                     : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return link;
}

void add_ops(Html& html, const Content& content, const std::vector<std::string>& labels) {
  std::vector<Heading> header{"Op", Heading::of_numbers("Cases")};
  header.insert(header.end(), labels.begin(), labels.end());
  const Table table(html, "Right results of all, by op; the worst error over the allowed one",
                    header);
  for (const GridOp& op : content.grid) {
    html.begin("tr");
    html.begin("th", {{"scope", "row"}});
    html.element("a", op.name(), {{"href", search_link(op)}});
    html.end("th");
    add_number(html, fmt::format("{}", op.cases.size()), static_cast<double>(op.cases.size()));
    for (std::size_t c = 0; c < op.cells.size(); ++c)
      add_cell(html, content, op.cells[c], c, false);
    html.end("tr");
  }
}

void add_cases(Html& html, const Content& content, const std::vector<std::string>& labels) {
  std::size_t all = 0;
  for (const GridOp& op : content.grid) all += op.cases.size();
  const bool only_odd = all > max_cases;
  std::vector<const GridCase*> shown;
  for (const GridOp& op : content.grid) {
    for (const GridCase& one : op.cases) {
      if (!only_odd || !is_plain(one)) shown.push_back(&one);
    }
  }
  std::size_t left_out = 0;
  if (only_odd && shown.size() > max_odd_cases) {
    std::ranges::stable_sort(shown, std::ranges::greater(),
                             [](const GridCase* one) { return severity_of(*one); });
    left_out = shown.size() - max_odd_cases;
    shown.resize(max_odd_cases);
  }
  html.begin("details");
  html.element("summary", only_odd ? fmt::format("{} cases that are not plainly right, of {}",
                                                 shown.size() + left_out, all)
                                   : fmt::format("All {} cases", all));
  if (left_out > 0) {
    html.element(
        "p",
        fmt::format(
            "{} of them, no worse than these, are left out here; the table of results has all.",
            left_out));
  }
  {
    std::vector<Heading> header{"Case"};
    header.insert(header.end(), labels.begin(), labels.end());
    const Table table(html, "Each case on each device; the worst error over the allowed one",
                      header);
    for (const GridCase* one : shown) {
      html.begin("tr");
      html.element("th", one->case_id, {{"scope", "row"}});
      for (std::size_t c = 0; c < one->cells.size(); ++c) {
        add_cell(html, content, one->cells[c], c, true);
      }
      html.end("tr");
    }
  }
  html.end("details");
}

}  // namespace

void add_correctness(Html& html, const Content& content) {
  if (content.grid.empty()) return;
  const Part part(html, "correctness", "What is right");
  html.element("p",
               "✓ right, ✗ wrong, ! no result, – skipped, ○ a known failure. A number such as 0.4× "
               "is the worst error over the allowed one: above 1 is wrong; exact is no error at "
               "all.");
  std::vector<std::string> labels;
  for (const Column& column : content.columns.all()) labels.push_back(column.label);
  add_ops(html, content, labels);
  add_cases(html, content, labels);
}

}  // namespace assay::page
