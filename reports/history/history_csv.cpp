#include "reports/history/history_csv.h"

#include <array>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"
#include "reports/text/csv_columns.h"

namespace assay {
namespace {

struct EntryRow {
  const History& history;
  const HistorySeries& series;
  const HistoryEntry& entry;
  const StoredRun& run() const { return history.runs[entry.run]; }
};

struct ChangeRow {
  const History& history;
  const HistorySeries& series;
  const HistoryChange& change;
  const StoredRun& last_before() const { return history.runs[series.last_before(change).run]; }
  const StoredRun& estimate() const { return history.runs[series.point(change.at.index).run]; }
  const StoredRun& first_after() const { return history.runs[series.first_after(change).run]; }
};

template <class Row>
std::vector<CsvColumn<Row>> key_columns() {
  return {
      {"host", [](const Row& r) { return to_cell(r.series.key.host); }},
      {"device", [](const Row& r) { return to_cell(r.series.key.device); }},
      {"device_name", [](const Row& r) { return to_cell(r.series.key.device_name); }},
      {"case_id", [](const Row& r) { return to_cell(r.series.key.case_id); }},
      {"timing", [](const Row& r) { return to_cell(r.series.key.timing); }},
  };
}

/// Adds three columns for the run that `run` gives: "before_run_id", ...
template <class Row>
void add_run_columns(std::vector<CsvColumn<Row>>& columns, std::array<const char*, 3> names,
                     const StoredRun& (Row::*run)() const) {
  columns.push_back({names[0], [run](const Row& r) { return to_cell((r.*run)().run_id); }});
  columns.push_back({names[1], [run](const Row& r) { return to_cell((r.*run)().started_at); }});
  columns.push_back({names[2], [run](const Row& r) { return to_cell((r.*run)().git_revision); }});
}

std::vector<CsvColumn<EntryRow>> entry_columns() {
  auto columns = key_columns<EntryRow>();
  add_run_columns(columns, {"run_id", "started_at", "git_revision"}, &EntryRow::run);
  const std::vector<CsvColumn<EntryRow>> rest{
      {"build_id", [](const EntryRow& r) { return to_cell(r.run().build_id); }},
      {"median_s", [](const EntryRow& r) { return to_cell(r.entry.median_s); }},
      {"reference_median_s", [](const EntryRow& r) { return to_cell(r.entry.reference_median_s); }},
      {"reference_run_id",
       [](const EntryRow& r) {
         return r.entry.reference_run ? to_cell(r.history.runs[*r.entry.reference_run].run_id)
                                      : std::string();
       }},
      {"value", [](const EntryRow& r) { return to_cell(r.entry.value); }},
      {"segment",
       [](const EntryRow& r) {
         return r.entry.segment > 0 ? to_cell(r.entry.segment) : std::string();
       }},
      {"missing", [](const EntryRow& r) { return to_cell(r.entry.missing); }},
      {"settings", [](const EntryRow& r) { return to_cell(r.series.key.settings); }},
  };
  columns.insert(columns.end(), rest.begin(), rest.end());
  return columns;
}

std::vector<CsvColumn<ChangeRow>> change_columns() {
  auto columns = key_columns<ChangeRow>();
  columns.push_back({"ratio", [](const ChangeRow& r) { return to_cell(r.change.ratio()); }});
  columns.push_back({"before", [](const ChangeRow& r) { return to_cell(r.change.before); }});
  columns.push_back({"after", [](const ChangeRow& r) { return to_cell(r.change.after); }});
  columns.push_back({"p", [](const ChangeRow& r) { return to_cell(r.change.at.p); }});
  add_run_columns(columns,
                  {"last_before_run_id", "last_before_started_at", "last_before_git_revision"},
                  &ChangeRow::last_before);
  add_run_columns(columns, {"estimate_run_id", "estimate_started_at", "estimate_git_revision"},
                  &ChangeRow::estimate);
  add_run_columns(columns,
                  {"first_after_run_id", "first_after_started_at", "first_after_git_revision"},
                  &ChangeRow::first_after);
  columns.push_back(
      {"settings", [](const ChangeRow& r) { return to_cell(r.series.key.settings); }});
  return columns;
}

}  // namespace

std::vector<std::string> history_columns() { return column_names(entry_columns()); }

std::string history_csv(const History& history) {
  const auto columns = entry_columns();
  std::string text = csv_line(column_names(columns)) + "\n";
  for (const HistorySeries& series : history.series) {
    for (const HistoryEntry& entry : series.entries) {
      text += csv_row(columns, EntryRow{history, series, entry});
    }
  }
  return text;
}

std::vector<std::string> history_changes_columns() { return column_names(change_columns()); }

std::string history_changes_csv(const History& history) {
  const auto columns = change_columns();
  std::string text = csv_line(column_names(columns)) + "\n";
  for (const HistorySeries& series : history.series) {
    for (const HistoryChange& change : series.changes) {
      text += csv_row(columns, ChangeRow{history, series, change});
    }
  }
  return text;
}

}  // namespace assay
