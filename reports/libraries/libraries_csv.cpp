#include "reports/libraries/libraries_csv.h"

#include <optional>

#include "harness/records/fields_text.h"
#include "reports/text/csv_columns.h"

namespace assay {
namespace {

struct CellRow {
  const LibrariesFacts& facts;
  const LibraryRow* row;  // null: over all
  std::size_t run;
  const LibraryCell& cell;

  std::string of_row(std::string LibraryRow::*field) const {
    return row == nullptr ? "" : to_cell(row->*field);
  }
  template <class T>
  std::string figure(const T& value) const {
    return cell.times.trials > 0 ? to_cell(value) : "";
  }
  std::string end(double statistics::Interval::*which) const {
    return cell.times.interval ? to_cell((*cell.times.interval).*which) : "";
  }
};

std::vector<CsvColumn<CellRow>> cell_columns() {
  const auto count = [](std::int64_t LibraryOutcomes::*which) {
    return [which](const CellRow& r) { return to_cell(r.cell.outcomes.*which); };
  };
  const auto times = [](std::size_t LibraryTimes::*which) {
    return [which](const CellRow& r) { return r.figure(r.cell.times.*which); };
  };
  return {
      {"kernels", [](const CellRow& r) { return to_cell(r.facts.runs[r.run].kernels); }},
      {"run", [](const CellRow& r) { return to_cell(r.facts.directories[r.run]); }},
      {"baseline", [](const CellRow& r) { return to_cell(r.facts.runs.front().kernels); }},
      {"device", [](const CellRow& r) { return r.of_row(&LibraryRow::device); }},
      {"suite", [](const CellRow& r) { return r.of_row(&LibraryRow::suite); }},
      {"op", [](const CellRow& r) { return r.of_row(&LibraryRow::op); }},
      {"dtype", [](const CellRow& r) { return r.of_row(&LibraryRow::dtype); }},
      {"asked", count(&LibraryOutcomes::asked)},
      {"right", count(&LibraryOutcomes::right)},
      {"wrong", count(&LibraryOutcomes::wrong)},
      {"failed", count(&LibraryOutcomes::broken)},
      {"known", count(&LibraryOutcomes::known)},
      {"skipped", count(&LibraryOutcomes::skipped)},
      {"not_offered", count(&LibraryOutcomes::not_offered)},
      {"timed", [](const CellRow& r) { return to_cell(r.cell.times.trials); }},
      {"time_ratio", [](const CellRow& r) { return r.figure(r.cell.times.ratio); }},
      {"time_ratio_low", [](const CellRow& r) { return r.end(&statistics::Interval::low); }},
      {"time_ratio_high", [](const CellRow& r) { return r.end(&statistics::Interval::high); }},
      {"slower", times(&LibraryTimes::slower)},
      {"faster", times(&LibraryTimes::faster)},
      {"disturbed", times(&LibraryTimes::disturbed)},
  };
}

}  // namespace

std::vector<std::string> libraries_columns() { return column_names(cell_columns()); }

std::string libraries_csv(const LibrariesFacts& facts) {
  const auto all_columns = cell_columns();
  std::string text = csv_line(libraries_columns()) + "\n";
  for (std::size_t run = 0; run < facts.runs.size(); ++run) {
    text += csv_row(all_columns, CellRow{facts, nullptr, run, facts.table.all[run]});
  }
  for (const LibraryRow& row : facts.table.rows) {
    for (std::size_t run = 0; run < facts.runs.size(); ++run) {
      text += csv_row(all_columns, CellRow{facts, &row, run, row.cells[run]});
    }
  }
  return text;
}

}  // namespace assay
