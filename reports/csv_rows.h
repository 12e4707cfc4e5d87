#pragma once

#include <filesystem>
#include <fstream>
#include <vector>

#include "harness/csv.h"
#include "harness/fields_text.h"
#include "kernels/base/status.h"

namespace assay {

/// The rows of a file that was written from `Fields`, a type with `visit_fields`; none where there
/// is no such file, or only its name. Throws UsageError("FILE:LINE: why").
template <class Fields>
std::vector<Fields> read_rows(const std::filesystem::path& path) {
  std::vector<Fields> all;
  if (!std::filesystem::exists(path)) return all;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("cannot read '{}'", path.string()));
  const std::vector<CsvRow> rows = read_csv(file, path.string());
  if (rows.empty()) return all;  // of a run that was killed before its first row
  if (rows.front().fields != field_names<Fields>()) {
    throw UsageError(fmt::format("{}:1:1: not the columns that this build of assay writes there",
                                 path.string()));
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::size_t column = 0;
    visit_fields(all.emplace_back(), [&](std::string_view name, auto& field) {
      try {
        from_cell(rows[i].fields.at(column++), field);
      } catch (const std::exception& wrong) {
        throw UsageError(
            fmt::format("{}:{}: {}: {}", path.string(), rows[i].line, name, wrong.what()));
      }
    });
  }
  return all;
}

}  // namespace assay
