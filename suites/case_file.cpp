#include "suites/case_file.h"

#include <algorithm>

#include "harness/records/csv_header.h"
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

Case read_case(const CsvHeader& header, const CsvRow& row) {
  header.check_width(row);
  const std::size_t suite_at = header.place("suite");
  const std::size_t dtype_at = header.place("dtype");
  const std::string& suite_name = row.fields[suite_at];
  const Suite* suite = find_suite(suite_name);
  if (suite == nullptr) {
    std::vector<std::string> valid;
    for (const Suite& known : all_suites()) valid.emplace_back(known.name);
    throw header.error(row, suite_at, unknown_name("suite", suite_name, valid));
  }
  std::string op_name = header.cell(row, "op");
  if (op_name.empty()) op_name = suite_name;
  const Op* op = suite->has_op(op_name) ? find_op(op_name) : nullptr;
  if (op == nullptr) {
    const std::size_t op_at = header.place("op");
    throw header.error(row, op_at == CsvHeader::absent ? suite_at : op_at,
                       "suite " + suite_name + " has no op '" + op_name + "'");
  }
  const auto format = parse_format(row.fields[dtype_at]);
  if (!format) throw header.error(row, dtype_at, "unknown dtype '" + row.fields[dtype_at] + "'");
  Params params;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const std::string& column = header.columns()[i];
    if (is_common(column) || row.fields[i].empty()) continue;
    try {
      params.set(column, parse_parameter(*op, column, row.fields[i]));
    } catch (const UsageError& wrong) {
      throw header.error(row, i, wrong.what());
    }
  }
  try {
    return {std::string(suite->name), instantiate(*op, *format, params)};
  } catch (const UsageError& wrong) {
    throw header.error(row, 0, wrong.what());
  }
}

}  // namespace

std::vector<Case> read_case_file(std::istream& text, std::string_view name) {
  const std::vector<CsvRow> rows = read_csv(text, name);
  if (rows.empty()) throw UsageError(std::string(name) + ":1:1: no header");
  const CsvHeader header(name, rows.front());
  for (const char* needed : {"suite", "dtype"}) header.need(needed);
  header.allow(valid_columns());
  std::vector<Case> cases;
  for (std::size_t i = 1; i < rows.size(); ++i) cases.push_back(read_case(header, rows[i]));
  if (cases.empty()) throw UsageError(std::string(name) + ": a header, but no cases");
  return cases;
}

}  // namespace assay
