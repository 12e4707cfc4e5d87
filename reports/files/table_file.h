#pragma once

#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "harness/records/csv_table.h"
#include "reports/files/csv_file.h"

namespace assay {

/// A file of rows of a type with `visit_fields`, each appended as it comes.
template <class Row>
class TableFile {
 public:
  explicit TableFile(const std::filesystem::path& path, Start start = Start::fresh)
      : file_(path, field_names<Row>(), start) {}

  void add(const Row& row) {
    const std::array rows{field_cells(row)};
    file_.write(rows);
  }

 private:
  CsvFile file_;
};

/// State of the last row of a file: torn perhaps in that of a run that did not end (see
/// whole_rows), and then left out.
enum class LastRow { whole, maybe_torn };

/// Reads the rows of such a file, also of a version with fewer columns or more. Returns none if the
/// file is missing or empty.
template <class Row>
std::vector<Row> read_table_file(const std::filesystem::path& path, LastRow last = LastRow::whole) {
  if (!std::filesystem::exists(path)) return {};
  const std::string text =
      last == LastRow::whole ? read_text(path) : read_whole_rows(path, header_line<Row>());
  if (text.empty()) return {};  // the run was killed before its first row
  std::istringstream stream(text);
  return read_table<Row>(stream, path.string(), {.required = {field_names<Row>().front()}});
}

}  // namespace assay
