#pragma once

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"
#include "kernels/core/status.h"
#include "reports/files/csv_file.h"

namespace assay {

/// Returns the text of a whole file: the header, and a line for each row of a type with
/// `visit_fields`.
template <class Fields>
std::string rows_text(const std::vector<Fields>& rows) {
  std::string text = csv_line(field_names<Fields>()) + "\n";
  for (const Fields& row : rows) text += csv_line(field_cells(row)) + "\n";
  return text;
}

/// Reads the rows of a file that was written from `Fields`, a type with `visit_fields`, also by a
/// version with fewer columns or more. Returns none if the file is missing or empty. A torn last
/// row of a run that did not end is skipped (see whole_rows). Throws UsageError("FILE:LINE: why").
template <class Fields>
std::vector<Fields> read_rows(const std::filesystem::path& path, bool ended = true) {
  std::vector<Fields> all;
  if (!std::filesystem::exists(path)) return all;
  std::string text = read_text(path);
  if (!ended) {
    text.resize(whole_rows(text, csv_line(field_names<Fields>()) + "\n", path.string()));
  }
  std::istringstream stream(text);
  const std::vector<CsvRow> rows = read_csv(stream, path.string());
  if (rows.empty()) return all;  // the run was killed before its first row
  const std::vector<std::string>& header = rows.front().fields;
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
  };
  if (place(field_names<Fields>().front()) == header.size()) {
    throw UsageError(fmt::format("{}:1:1: not the columns that assay writes there", path.string()));
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].fields.size() != header.size()) {
      throw wrong_width(path.string(), rows[i], header.size());
    }
    visit_fields(all.emplace_back(), [&](std::string_view name, auto& field) {
      const std::size_t at = place(name);
      if (at == header.size()) return;  // an older version wrote the file
      try {
        from_cell(rows[i].fields[at], field);
      } catch (const UsageError& wrong) {
        throw UsageError(
            fmt::format("{}:{}: {}: {}", path.string(), rows[i].line, name, wrong.what()));
      }
    });
  }
  return all;
}

}  // namespace assay
