#include "suites/case_file.h"

#include <algorithm>

#include "harness/records/csv_table.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "suites/suite.h"

namespace assay {
namespace {

/// Columns that every op has.
const std::vector<std::string> common_columns{"suite", "op", "dtype"};

bool is_common(const std::string& column) {
  return std::ranges::find(common_columns, column) != common_columns.end();
}

std::vector<std::string> valid_columns() {
  std::vector<std::string> valid = common_columns;
  for (const Op& op : op_table()) {
    for (const Parameter& parameter : op.parameters) {
      if (std::ranges::find(valid, parameter.name) == valid.end()) {
        valid.emplace_back(parameter.name);
      }
    }
  }
  return valid;
}

Case read_case(const TableRow& row) {
  const auto cell = [&](std::size_t index) {
    return index == TableRow::absent ? std::string() : row.cells()[index];
  };
  const std::size_t suite_at = row.index_of("suite");
  const std::size_t op_at = row.index_of("op");
  const std::size_t dtype_at = row.index_of("dtype");
  const std::string suite_name = cell(suite_at);
  const Suite* suite = find_suite(suite_name);
  if (suite == nullptr) {
    std::vector<std::string> valid;
    for (const Suite& known : all_suites()) valid.emplace_back(known.name);
    throw row.error(suite_at, unknown_name("suite", suite_name, valid));
  }
  std::string op_name = cell(op_at);
  if (op_name.empty()) op_name = suite_name;
  const Op* op = suite->has_op(op_name) ? find_op(op_name) : nullptr;
  if (op == nullptr) {
    throw row.error(op_at == TableRow::absent ? suite_at : op_at,
                    "suite " + suite_name + " has no op '" + op_name + "'");
  }
  const auto format = parse_format(cell(dtype_at));
  if (!format) throw row.error(dtype_at, "unknown dtype '" + cell(dtype_at) + "'");
  Params params;
  for (std::size_t i = 0; i < row.cells().size(); ++i) {
    const std::string& column = row.columns()[i];
    if (is_common(column) || cell(i).empty()) continue;
    try {
      params.set(column, parse_parameter(*op, column, cell(i)));
    } catch (const UsageError& wrong) {
      throw row.error(i, wrong.what());
    }
  }
  try {
    return {std::string(suite->name), instantiate(*op, *format, params)};
  } catch (const UsageError& wrong) {
    throw row.error(std::size_t{0}, wrong.what());
  }
}

}  // namespace

std::vector<Case> read_case_file(std::istream& text, std::string_view name) {
  std::vector<Case> cases;
  each_table_row(text, name, {.required = {"suite", "dtype"}, .allowed = valid_columns()},
                 [&](const TableRow& row) { cases.push_back(read_case(row)); });
  if (cases.empty()) throw UsageError(std::string(name) + ": a header, but no cases");
  return cases;
}

}  // namespace assay
