#include "reports/limits_csv.h"

#include <fmt/format.h>

#include <array>
#include <fstream>

#include "harness/csv.h"
#include "harness/fields_text.h"
#include "kernels/base/status.h"

namespace assay {

LimitsCsv::LimitsCsv(const std::filesystem::path& path, Start start)
    : file_(path, field_names<Limit>(), start) {}

void LimitsCsv::add(const Limit& limit) {
  const std::array rows{field_cells(limit)};
  file_.write(rows);
}

std::vector<Limit> read_limits(const std::filesystem::path& path) {
  std::vector<Limit> limits;
  if (!std::filesystem::exists(path)) return limits;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("cannot read '{}'", path.string()));
  const std::vector<CsvRow> rows = read_csv(file, path.string());
  if (rows.empty()) return limits;  // of a run that was killed before its first row
  if (rows.front().fields != field_names<Limit>()) {
    throw UsageError(fmt::format("{}:1:1: not the columns of limits", path.string()));
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    Limit& limit = limits.emplace_back();
    std::size_t column = 0;
    visit_fields(limit, [&](std::string_view name, auto& field) {
      try {
        from_cell(rows[i].fields.at(column++), field);
      } catch (const std::exception& wrong) {
        throw UsageError(
            fmt::format("{}:{}: {}: {}", path.string(), rows[i].line, name, wrong.what()));
      }
    });
  }
  return limits;
}

}  // namespace assay
