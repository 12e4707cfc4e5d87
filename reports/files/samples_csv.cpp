#include "reports/files/samples_csv.h"

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t key_columns = 5;

SampleRow sample_row(const Record& record) {
  return {record.case_id, record.device, record.timing, record.attempt, record.repeat};
}

/// Returns the key at the begin of a row in the form of `csv_line`.
std::string sample_key(std::span<const std::string> cells) {
  return csv_line(cells.first(std::min(cells.size(), key_columns)));
}

/// Overload for the line of a row, whatever quotes it has.
std::string sample_key(std::string_view line, const fs::path& path) {
  std::istringstream text{std::string(line)};
  const std::vector<CsvRow> rows = read_csv(text, path.string());
  return rows.empty() ? std::string() : sample_key(rows.front().fields);
}

}  // namespace

SamplesCsv::SamplesCsv(const fs::path& path, Start start, std::span<const Record> earlier)
    : file_(path, field_names<SampleRow>(), start) {
  if (start == Start::resumed) cut_orphaned_samples(path, earlier);
}

void SamplesCsv::result(const Result& result) {
  SampleRow row = sample_row(result.record);
  std::vector<std::vector<std::string>> rows;
  rows.reserve(result.samples.size());
  for (const Sample& sample : result.samples) {
    ++row.number;
    row.sample = sample;
    rows.push_back(field_cells(row));
  }
  file_.write(rows);
}

std::size_t cut_orphaned_samples(const fs::path& path, std::span<const Record> records) {
  if (!fs::exists(path)) return 0;
  std::unordered_set<std::string> known;
  for (const Record& record : records) known.insert(sample_key(field_cells(sample_row(record))));

  const std::string text = read_text(path);
  std::vector<std::size_t> ends = row_ends(text);  // the first one is the header's
  std::size_t cut = 0;
  while (ends.size() > 1) {
    const std::size_t begin = ends[ends.size() - 2];
    const auto row = std::string_view(text).substr(begin, ends.back() - begin);
    if (known.contains(sample_key(row, path))) break;
    ends.pop_back();
    ++cut;
  }
  if (cut > 0) fs::resize_file(path, ends.back());
  return cut;
}

}  // namespace assay
