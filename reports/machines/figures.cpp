#include "reports/machines/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/records/fields_text.h"
#include "reports/text/csv_columns.h"
#include "reports/text/key_figures.h"

namespace assay {
namespace {

constexpr std::string_view not_run = "not run";

struct FigureRow {
  const MachinesFacts& facts;
  std::size_t index;
  const FleetColumn& column;
  std::optional<ColumnMeasure> found;

  const KeyFigure& figure() const { return key_figures()[index]; }
  /// Shows a field of the measure; empty without one.
  template <class Get>
  std::string of(Get get) const {
    return found ? to_cell(get(found->median->measure)) : "";
  }
  std::string end(double KeyMeasure::*which) const {
    return of([&](const KeyMeasure& m) {
      return m.low > 0 ? std::optional<double>(m.*which) : std::nullopt;
    });
  }
  std::string run() const {
    return found && found->median->run < facts.runs.size() ? facts.runs[found->median->run] : "";
  }
};

std::vector<CsvColumn<FigureRow>> figure_columns() {
  return {
      {"figure", [](const FigureRow& r) { return to_cell(r.figure().name); }},
      {"machine", [](const FigureRow& r) { return to_cell(r.column.name); }},
      {"unit", [](const FigureRow& r) { return to_cell(unit_of(r.figure())); }},
      {"value",
       [](const FigureRow& r) { return r.of([](const KeyMeasure& m) { return m.value; }); }},
      {"value_low", [](const FigureRow& r) { return r.end(&KeyMeasure::low); }},
      {"value_high", [](const FigureRow& r) { return r.end(&KeyMeasure::high); }},
      {"share",
       [](const FigureRow& r) { return r.of([](const KeyMeasure& m) { return m.share; }); }},
      {"share_of",
       [](const FigureRow& r) { return r.of([](const KeyMeasure& m) { return m.share_of; }); }},
      {"case_id",
       [](const FigureRow& r) { return r.of([](const KeyMeasure& m) { return m.case_id; }); }},
      {"device",
       [](const FigureRow& r) { return r.of([](const KeyMeasure& m) { return m.device; }); }},
      {"host", [](const FigureRow& r) { return r.found ? to_cell(r.found->host) : ""; }},
      {"run", [](const FigureRow& r) { return to_cell(r.run()); }},
      {"measures", [](const FigureRow& r) { return to_cell(r.found ? r.found->measures : 0); }},
  };
}

}  // namespace

std::optional<ColumnMeasure> column_measure(const Fleet& fleet, const FleetColumn& column,
                                            std::size_t figure) {
  std::vector<ColumnMeasure> all;
  for (const std::uint32_t m : column.machines) {
    for (const FleetMeasure& one : fleet.machines[m].measures) {
      if (one.figure == figure) all.push_back({.median = &one, .host = fleet.machines[m].host});
    }
  }
  if (all.empty()) return std::nullopt;
  std::ranges::stable_sort(all, {},
                           [](const ColumnMeasure& one) { return one.median->measure.value; });
  ColumnMeasure median = all[(all.size() - 1) / 2];
  median.measures = all.size();
  return median;
}

Section figures_section(const MachinesFacts& facts) {
  constexpr std::size_t max_columns = 6;  // wider tables are for programs
  Section section{.title = "Figures of each machine"};
  const std::size_t shown =
      std::min(facts.columns.size(), std::min(max_columns, facts.longest_list));
  section.header = {"figure"};
  for (const FleetColumn& column : facts.columns.first(shown))
    section.header.push_back(column.name);
  section.header.emplace_back("at the case");
  section.alignment = "<" + std::string(shown, '>') + "<";
  section.lines.emplace_back(
      "Of several devices or runs that of the median one. In brackets its 95% interval, of one "
      "process; behind it the share of the limit, of a limit that of theory.");
  if (shown < facts.columns.size()) {
    section.lines.push_back(fmt::format("{} of {} machines; --figures FILE has every one", shown,
                                        facts.columns.size()));
  }
  bool any = false;
  bool differ = false;
  for (std::size_t i = 0; i < key_figures().size(); ++i) {
    std::vector<std::string> row{std::string(key_figures()[i].name)};
    std::string case_id;
    for (const FleetColumn& column : facts.columns.first(shown)) {
      const auto found = column_measure(facts.fleet, column, i);
      if (!found) {
        row.emplace_back(not_run);
        continue;
      }
      any = true;
      const KeyMeasure& measure = found->median->measure;
      if (case_id.empty()) case_id = measure.case_id;
      const bool is_other = measure.case_id != case_id;
      differ |= is_other;
      row.push_back(measure_text(key_figures()[i], measure) + (is_other ? " *" : ""));
    }
    row.push_back(std::move(case_id));
    section.rows.push_back(std::move(row));
  }
  if (differ) section.lines.emplace_back("* at another case; --figures FILE has it");
  return any ? section : Section();
}

std::vector<std::string> machines_figures_columns() { return column_names(figure_columns()); }

std::string machines_figures_csv(const MachinesFacts& facts) {
  const auto all = figure_columns();
  std::string text = csv_line(machines_figures_columns()) + "\n";
  for (std::size_t i = 0; i < key_figures().size(); ++i) {
    for (const FleetColumn& column : facts.columns) {
      text += csv_row(all, FigureRow{facts, i, column, column_measure(facts.fleet, column, i)});
    }
  }
  return text;
}

}  // namespace assay
