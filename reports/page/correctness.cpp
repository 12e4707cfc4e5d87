#include <fmt/format.h>

#include "reports/page/sections.h"

namespace assay::page {
namespace {

/// Beyond these a page would be slow: then only ops, and cases that are not plainly right.
constexpr std::size_t most_cases = 3000;
constexpr std::size_t most_odd_cases = 500;

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
  if (!is_case || cell.right != cell.total()) html.text(" " + counts(cell));
  if (cell.error == 0 && cell.right > 0 && cell.wrong == 0) html.text(" exact");
  if (cell.error > 0) html.text(fmt::format(" {:.2g}×", cell.error));
  html.end("a");
  html.end("td");
}

bool is_plain(const GridCase& one) {
  for (const Cell& cell : one.cells) {
    if (cell.right != cell.total()) return false;
  }
  return true;
}

void add_ops(Html& html, const Content& content, const std::vector<std::string>& labels) {
  std::vector<std::string> header{"Op", "Cases"};
  header.insert(header.end(), labels.begin(), labels.end());
  const Table table(html, "Right results of all, by op; the worst error over the allowed one",
                    header);
  for (const GridOp& op : content.grid) {
    html.begin("tr");
    html.begin("th", {{"scope", "row"}});
    html.element("a", op.op == op.suite ? op.suite : op.suite + "/" + op.op,
                 {{"href", fmt::format("#q={}/{}/", op.suite, op.op)}});
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
  const bool only_odd = all > most_cases;
  std::vector<const GridCase*> shown;
  std::size_t left_out = 0;
  for (const GridOp& op : content.grid) {
    for (const GridCase& one : op.cases) {
      if (only_odd && is_plain(one)) continue;
      if (only_odd && shown.size() >= most_odd_cases) {
        ++left_out;
      } else {
        shown.push_back(&one);
      }
    }
  }
  html.begin("details");
  html.element("summary", only_odd ? fmt::format("{} cases that are not plainly right, of {}",
                                                 shown.size() + left_out, all)
                                   : fmt::format("All {} cases", all));
  if (left_out > 0) {
    html.element(
        "p", fmt::format("{} of them are left out here; the table of results has all.", left_out));
  }
  {
    std::vector<std::string> header{"Case"};
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
               "is the worst error over what the oracle allows: above 1 is wrong; exact is no "
               "error at all.");
  std::vector<std::string> labels;
  for (const Column& column : content.columns.all()) labels.push_back(column.label);
  add_ops(html, content, labels);
  add_cases(html, content, labels);
}

}  // namespace assay::page
