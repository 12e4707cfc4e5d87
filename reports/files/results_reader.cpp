#include "reports/files/results_reader.h"

#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <tuple>

#include "harness/records/csv.h"
#include "harness/records/input_file.h"
#include "kernels/core/status.h"
#include "reports/files/csv_file.h"
#include "reports/files/key_index.h"
#include "reports/files/results_columns.h"

namespace assay {

namespace {

auto key(const Record& record) {
  return std::tie(record.case_id, record.device, record.timing, record.attempt, record.repeat);
}

/// Keeps where the row of each key stands, and throws UsageError where it stands twice.
class Keys {
 public:
  Keys(const std::vector<Record>& records, std::string_view name)
      : records_(records), name_(name) {}

  /// For the last of the records.
  void add(std::size_t line) {
    const Record& last = records_.back();
    std::size_t hash = 0;
    for (const std::string* part : {&last.case_id, &last.device, &last.timing}) {
      hash = hash * 31 + std::hash<std::string>()(*part);
    }
    hash = (hash * 31 + static_cast<std::size_t>(last.attempt)) * 31 +
           static_cast<std::size_t>(last.repeat);
    const std::uint32_t first =
        index_.find(hash, [&](std::uint32_t place) { return key(records_[place]) == key(last); });
    if (first != KeyIndex::absent) throw second_row(name_, line, lines_[first], last);
    index_.insert(hash, static_cast<std::uint32_t>(lines_.size()));
    lines_.push_back(line);
  }

 private:
  const std::vector<Record>& records_;
  std::string_view name_;
  std::vector<std::size_t> lines_;
  KeyIndex index_;
};

}  // namespace

std::vector<Record> read_results(std::istream& text, std::string_view name) {
  std::vector<std::size_t> places;  // in the order of visit_fields
  std::vector<Record> records;
  Keys keys(records, name);
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
    keys.add(row.line);
  });
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
