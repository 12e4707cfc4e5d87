#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "kernels/core/names.h"
#include "reports/page/cells.h"
#include "reports/page/content.h"

namespace assay::page {
namespace {

/// Trials of one op and dtype in one column whose rows were computed again in smaller batches.
struct Batches {
  std::int64_t tried = 0;
  std::int64_t changing = 0;
  std::set<std::int64_t> at_rows;  // numbers of rows at which bits changed
  std::string link;                // to the first row of results.csv that tells so
};

Json cell_of(const Batches& batches) {
  if (batches.tried == 0) return text_cell("");
  if (batches.changing == 0) return text_cell(fmt::format("✓ all {}", batches.tried));
  Json cell = text_cell(fmt::format("{} of {} change", batches.changing, batches.tried));
  cell["link"] = batches.link;
  std::vector<std::string> rows;
  for (const std::int64_t count : batches.at_rows) rows.push_back(std::to_string(count));
  cell["interval"] = "at " + join(rows, ", ");
  return cell;
}

}  // namespace

Json bits_part(const Content& content) {
  using Key = std::pair<std::string, std::string>;  // op and dtype
  std::vector<Key> order;
  std::map<Key, std::vector<Batches>> all;
  const std::vector<RunSource>& runs = content.input.runs;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].trials.size(); ++i) {
      const Record& trial = runs[r].trials[i];
      if (!trial.batch_invariant) continue;
      const Key key{trial.op == trial.suite ? trial.op : trial.suite + "/" + trial.op, trial.dtype};
      const auto [entry, is_new] = all.try_emplace(key, content.columns.size());
      if (is_new) order.push_back(key);
      Batches& batches = entry->second.at(content.columns.of(r, trial.device));
      ++batches.tried;
      if (*trial.batch_invariant) continue;
      if (batches.changing++ == 0) {
        batches.link = row_link(content.file_of(runs[r].results), runs[r].rows[i]);
      }
      std::istringstream numbers(trial.other_bits_at_rows);
      for (std::int64_t rows = 0; numbers >> rows; numbers.ignore()) batches.at_rows.insert(rows);
    }
  }
  if (all.empty()) return nullptr;
  std::vector<Heading> headings{"Op", "Dtype"};
  for (const Column& column : content.columns.all()) headings.emplace_back(column.label);
  Json rows = Json::array();
  for (const Key& key : order) {
    Json cells = Json::array({head_cell(key.first), text_cell(key.second)});
    for (const Batches& batches : all.at(key)) cells.push_back(cell_of(batches));
    rows.push_back(std::move(cells));
  }
  Json tables = Json::array();
  tables.push_back(
      table("Cases of which rows keep or change their bits when fewer are computed at "
            "once, and the numbers of rows at which they change",
            headings, std::move(rows)));
  return {{"title", "Same bits in every batch?"},
          {"remark",
           "A row of a product depends on no other row. Where a library takes another kernel for "
           "another batch, it may still get other bits: both are right."},
          {"tables", std::move(tables)}};
}

}  // namespace assay::page
