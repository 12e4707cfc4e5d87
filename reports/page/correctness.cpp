#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/records/claims.h"
#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

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

/// How near the allowed error the results came: "exact", "0.4×"; empty if nothing was judged.
std::string error_text(const Cell& cell) {
  const bool is_right = cell.wrong + cell.broken + cell.expected == 0;
  if (cell.error == 0 && is_right && cell.right > 0) return " exact";
  // An exact oracle gives no measure to a wrong result.
  return cell.error > (is_right ? 0 : 1) ? fmt::format(" {:.2g}×", cell.error) : "";
}

Json cell_json(const Content& content, const Cell& cell, std::size_t column) {
  if (cell.worst == nullptr) {
    Json none = text_cell("");
    none["class"] = "cell none";
    return none;
  }
  const double rank = static_cast<double>(cell.wrong * 4 + cell.broken * 2) + cell.error / 2;
  Json made = text_cell(fmt::format("{} {}{}", sign_of(cell), counts(cell), error_text(cell)));
  made["class"] = style_of(cell);
  made["v"] = fmt::format("{:.4g}", rank);
  made["link"] = row_link(content.columns[column].run, cell.worst_row);
  return made;
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

Json ops_table(const Content& content, const std::string& suite) {
  std::vector<Heading> headings{"Op", Heading::of_numbers("Cases")};
  for (const Column& column : content.columns.all()) headings.emplace_back(column.label);
  Json rows = Json::array();
  for (const GridOp& op : content.grid) {
    if (op.suite != suite) continue;
    Json name = head_cell(op.name());
    name["link"] = search_link(op);
    name["below"] = claim_of(op.suite, op.op);
    Json cells = Json::array({std::move(name)});
    cells.push_back(
        number_cell(fmt::format("{}", op.cases.size()), static_cast<double>(op.cases.size())));
    for (std::size_t c = 0; c < op.cells.size(); ++c) {
      cells.push_back(cell_json(content, op.cells[c], c));
    }
    rows.push_back(std::move(cells));
  }
  return table(
      fmt::format("{}: right results of all, by op; the worst error over the allowed one", suite),
      headings, std::move(rows));
}

/// One line of a suite: its counts over all columns.
Json suite_json(const Content& content, const std::string& suite) {
  Cell all;
  for (const GridOp& op : content.grid) {
    if (op.suite != suite) continue;
    for (const Cell& cell : op.cells) {
      all.right += cell.right;
      all.wrong += cell.wrong;
      all.broken += cell.broken;
      all.skipped += cell.skipped;
      all.expected += cell.expected;
    }
  }
  std::string rest;
  const auto add = [&](std::int64_t n, std::string_view what) {
    if (n > 0) rest += fmt::format("{}{} {}", rest.empty() ? "" : ", ", with_commas(n), what);
  };
  add(all.wrong, "wrong");
  add(all.broken, "broken");
  add(all.skipped, "skipped");
  add(all.expected, "known failures");
  const auto known = content.input.suites.find(suite);
  const std::int64_t bad = all.wrong + all.broken;
  const std::int64_t ran = all.total() - all.skipped;  // a skip is neither right nor wrong
  const auto share = [&](std::int64_t n) {
    return fmt::format("{:.4g}",
                       ran == 0 ? 0.0 : 100.0 * static_cast<double>(n) / static_cast<double>(ran));
  };
  return {{"suite", suite},
          {"description", known == content.input.suites.end() ? "" : known->second},
          {"share", share(all.right)},
          {"bad_share", share(bad)},
          {"right", with_commas(all.right)},
          {"ran", with_commas(ran)},
          {"rest", rest},
          {"kind", bad > 0   ? "bad"
                   : ran > 0 ? "good"
                             : ""},
          {"table", Json::array({ops_table(content, suite)})}};
}

}  // namespace

Json correctness_part(const Content& content) {
  if (content.grid.empty()) return nullptr;
  std::vector<std::string> names;
  for (const GridOp& op : content.grid) {
    if (std::ranges::find(names, op.suite) == names.end()) names.push_back(op.suite);
  }
  Json suites = Json::array();
  for (const std::string& name : names) suites.push_back(suite_json(content, name));
  return {{"title", "What is right"}, {"suites", std::move(suites)}};
}

}  // namespace assay::page
