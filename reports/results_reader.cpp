#include "reports/results_reader.h"

#include <fstream>
#include <string>

#include "kernels/base/status.h"
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
    visit_fields(records.emplace_back(), [&](std::string_view column, auto& field) {
      columns.read(row, column, *place++, field);
    });
  });
  return records;
}

std::vector<Record> read_results_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path.string() + ": cannot be read");
  return read_results(file, path.string());
}

}  // namespace assay
