#include "reports/files/results_reader.h"

#include <boost/functional/hash.hpp>
#include <cstdint>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>

#include "harness/records/csv_table.h"
#include "harness/records/input_file.h"
#include "kernels/core/status.h"
#include "reports/files/csv_file.h"
#include "reports/files/results_table.h"

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
  std::vector<std::size_t> lines;
  std::vector<Record> records = read_table<Record>(
      text, name, results_rules(), [&](const Record& record, const TableRow& cells) {
        check_times(record, cells);
        lines.push_back(cells.line());
      });
  check_once(records, lines, name);
  return records;
}

std::vector<Record> read_whole_results(const std::filesystem::path& path) {
  const std::string text = read_whole_rows(path, header_line<Record>());
  if (text.empty()) return {};  // ended before its header
  std::istringstream stream(text);
  return read_results(stream, path.string());
}

std::vector<Record> read_results_file(const std::filesystem::path& path) {
  InputFile file(path);
  return read_results(file, path.string());
}

}  // namespace assay
