#include "reports/results_reader.h"

#include <string>

#include "harness/input_file.h"
#include "reports/results_columns.h"

namespace assay {

std::vector<Record> read_results(std::istream& text, std::string_view name) {
  std::vector<std::size_t> places;  // in the order of visit_fields
  std::vector<Record> records;
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
  });
  return records;
}

std::vector<Record> read_results_file(const std::filesystem::path& path) {
  InputFile file(path);
  return read_results(file, path.string());
}

}  // namespace assay
