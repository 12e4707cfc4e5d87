#include "reports/files/results_reader.h"

#include <boost/functional/hash.hpp>
#include <cstdint>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>

#include "harness/records/csv.h"
#include "harness/records/input_file.h"
#include "kernels/core/status.h"
#include "reports/files/csv_file.h"
#include "reports/files/results_columns.h"

namespace assay {

namespace {

/// Throws UsageError where two records have the same key; `lines` are those of their rows.
void check_once(const std::vector<Record>& records, const std::vector<std::size_t>& lines,
                std::string_view name) {
  using Key =
      std::tuple<std::string_view, std::string_view, std::string_view, std::int64_t, std::int64_t>;
  std::unordered_map<Key, std::size_t, boost::hash<Key>> seen;
  seen.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& one = records[i];
    const auto [first, is_new] =
        seen.emplace(Key(one.case_id, one.device, one.timing, one.attempt, one.repeat), lines[i]);
    if (!is_new) throw second_row(name, lines[i], first->second, one);
  }
}

}  // namespace

std::vector<Record> read_results(std::istream& text, std::string_view name) {
  std::vector<std::size_t> places;  // in the order of visit_fields
  std::vector<Record> records;
  std::vector<std::size_t> lines;
  each_results_row(text, name, [&](const ResultsColumns& columns, const CsvRow& row) {
    if (places.empty()) {
      for (const std::string& column : field_names<Record>()) {
        places.push_back(columns.place(column));
      }
    }
    auto place = places.begin();
    Record& record = records.emplace_back();
    visit_fields(record, [&](std::string_view column, auto& field) {
      columns.read(row, column, *place++, field);
    });
    columns.check_interval(row, record.time_ci_low_s, record.time_ci_high_s);
    lines.push_back(row.line);
  });
  check_once(records, lines, name);
  return records;
}

std::vector<Record> read_whole_results(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  const std::string header = csv_line(field_names<Record>()) + "\n";
  const std::size_t whole = whole_rows(text, header, path.string());
  if (whole == 0) return {};  // ended before its header
  std::istringstream stream(text.substr(0, whole));
  return read_results(stream, path.string());
}

std::vector<Record> read_results_file(const std::filesystem::path& path) {
  InputFile file(path);
  return read_results(file, path.string());
}

}  // namespace assay
