#include "reports/files/samples_csv.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <unordered_set>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> key_cells(const Record& record) {
  return {to_cell(record.case_id), to_cell(record.device), to_cell(record.timing),
          to_cell(record.attempt), to_cell(record.repeat)};
}

constexpr std::size_t key_columns = 5;

/// Returns the key of a row in the form of `csv_line`, whatever quotes the row has.
std::string key_of(std::string_view row, const fs::path& path) {
  std::istringstream text{std::string(row)};
  const std::vector<CsvRow> rows = read_csv(text, path.string());
  if (rows.empty()) return {};
  const std::vector<std::string>& fields = rows.front().fields;
  return csv_line(std::span(fields).first(std::min(fields.size(), key_columns)));
}

}  // namespace

std::vector<std::string> samples_columns() {
  return {"case_id", "device",   "timing",   "attempt",   "repeat",        "sample",
          "seconds", "launches", "clock_hz", "throttled", "seconds_forth", "seconds_back"};
}

SamplesCsv::SamplesCsv(const fs::path& path, Start start, std::span<const Record> earlier)
    : file_(path, samples_columns(), start) {
  if (start == Start::resumed) cut_orphaned_samples(path, earlier);
}

void SamplesCsv::result(const Result& result) {
  const std::vector<std::string> key = key_cells(result.record);
  std::vector<std::vector<std::string>> rows;
  rows.reserve(result.samples.size());
  for (const Sample& sample : result.samples) {
    auto& row = rows.emplace_back(key);
    const std::vector<std::string> cells{to_cell(rows.size()),        to_cell(sample.seconds),
                                         to_cell(sample.launches),    to_cell(sample.clock_hz),
                                         to_cell(sample.throttled),   to_cell(sample.seconds_forth),
                                         to_cell(sample.seconds_back)};
    row.insert(row.end(), cells.begin(), cells.end());
  }
  file_.write(rows);
}

std::size_t cut_orphaned_samples(const fs::path& path, std::span<const Record> records) {
  if (!fs::exists(path)) return 0;
  std::unordered_set<std::string> known;
  for (const Record& record : records) known.insert(csv_line(key_cells(record)));

  const std::string text = read_text(path);
  std::vector<std::size_t> ends = row_ends(text);  // the first one is the header's
  std::size_t cut = 0;
  while (ends.size() > 1) {
    const std::size_t begin = ends[ends.size() - 2];
    const auto row = std::string_view(text).substr(begin, ends.back() - begin);
    if (known.contains(key_of(row, path))) break;
    ends.pop_back();
    ++cut;
  }
  if (cut > 0) fs::resize_file(path, ends.back());
  return cut;
}

}  // namespace assay
