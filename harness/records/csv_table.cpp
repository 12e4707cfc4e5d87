#include "harness/records/csv_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/names.h"

namespace assay {
namespace {

void check_columns(std::string_view name, const CsvRow& header, const TableRules& rules) {
  const TableRow row(name, header, header);
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const std::string& column = header.fields[i];
    if (row.index_of(column) != i) {
      throw row.error(i, fmt::format("column '{}' is there twice", column));
    }
    if (rules.allowed && std::ranges::find(*rules.allowed, column) == rules.allowed->end()) {
      throw row.error(i, unknown_name("column", column, *rules.allowed));
    }
  }
  for (const std::string& column : rules.required) {
    if (row.index_of(column) != TableRow::absent) continue;
    throw row.error(std::size_t{0}, fmt::format("the header needs a column '{}'", column));
  }
}

void check_schema(const TableRow& row, std::int64_t newest) {
  const std::size_t index = row.index_of("schema_version");
  if (index >= row.cells().size()) return;
  std::int64_t schema = 0;
  try {
    from_cell(row.cells()[index], schema);
  } catch (const UsageError& wrong) {
    throw row.error("schema_version", wrong.what());
  }
  if (schema <= newest) return;
  throw row.error(index, fmt::format("schema version {}, and this build of assay reads up to {}; "
                                     "read it with a newer one",
                                     schema, newest));
}

}  // namespace

std::size_t TableRow::index_of(std::string_view column) const {
  const auto found = std::ranges::find(columns(), column);
  return found == columns().end() ? absent : static_cast<std::size_t>(found - columns().begin());
}

UsageError TableRow::error(std::size_t index, std::string_view why) const {
  return csv_error(table_, row_.line, row_.columns[index], why);
}

UsageError TableRow::error(std::string_view column, std::string_view why) const {
  const std::size_t at = index_of(column);
  return error(at == absent ? 0 : at, fmt::format("{}: {}", column, why));
}

void each_table_row(std::istream& text, std::string_view name, const TableRules& rules,
                    const std::function<void(const TableRow&)>& visit) {
  std::optional<CsvRow> header;
  bool is_checked = false;
  each_csv_row(text, name, [&](const CsvRow& row) {
    if (!header) {
      header = row;
      return;
    }
    const TableRow cells(name, *header, row);
    // First, as a newer schema may change anything else.
    if (rules.newest_schema) check_schema(cells, *rules.newest_schema);
    if (!is_checked) check_columns(name, *header, rules);
    is_checked = true;
    if (row.fields.size() != header->fields.size()) {
      throw wrong_width(name, row, header->fields.size());
    }
    visit(cells);
  });
  if (!header) throw csv_error(name, 1, 1, "no header");
  if (!is_checked) check_columns(name, *header, rules);
}

}  // namespace assay
