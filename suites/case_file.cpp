#include "suites/case_file.h"

#include <algorithm>
#include <optional>

#include "harness/records/csv.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "suites/suite.h"

namespace assay {
namespace {

class Reader {
 public:
  Reader(std::string_view name, const CsvRow& header) : name_(name), header_(header) {
    for (const std::string_view needed : {"suite", "dtype"}) {
      if (std::ranges::find(header.fields, needed) == header.fields.end()) {
        throw error(header, 0, "the header needs a column '" + std::string(needed) + "'");
      }
    }
    for (std::size_t i = 0; i < header.fields.size(); ++i) check_column(i);
  }

  Case read(const CsvRow& row) const {
    if (row.fields.size() != header_.fields.size()) {
      throw error(row, row.fields.size() - 1,
                  std::to_string(row.fields.size()) + " fields where the header has " +
                      std::to_string(header_.fields.size()));
    }
    const std::size_t suite_at = *column("suite");
    const std::size_t dtype_at = *column("dtype");
    const std::string& suite_name = row.fields[suite_at];
    const Suite* suite = find_suite(suite_name);
    if (suite == nullptr) {
      std::vector<std::string> valid;
      for (const Suite& known : all_suites()) valid.emplace_back(known.name);
      throw error(row, suite_at, unknown_name("suite", suite_name, valid));
    }
    const auto op_at = column("op");
    const std::string op_name =
        op_at && !row.fields[*op_at].empty() ? row.fields[*op_at] : suite_name;
    const Op* op = suite->has_op(op_name) ? find_case_op(op_name) : nullptr;
    if (op == nullptr) {
      throw error(row, op_at.value_or(suite_at),
                  "suite " + suite_name + " has no op '" + op_name + "'");
    }
    const auto dtype = parse_dtype(row.fields[dtype_at]);
    if (!dtype) throw error(row, dtype_at, "unknown dtype '" + row.fields[dtype_at] + "'");
    Params params;
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      if (is_fixed(header_.fields[i]) || row.fields[i].empty()) continue;
      try {
        params.set(header_.fields[i], parse_parameter(*op, header_.fields[i], row.fields[i]));
      } catch (const UsageError& wrong) {
        throw error(row, i, wrong.what());
      }
    }
    try {
      return {std::string(suite->name), instantiate(*op, *dtype, params)};
    } catch (const UsageError& wrong) {
      throw error(row, 0, wrong.what());
    }
  }

 private:
  static bool is_fixed(std::string_view column) {
    return column == "suite" || column == "op" || column == "dtype";
  }

  std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::ranges::find(header_.fields, name);
    if (found == header_.fields.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.fields.begin());
  }

  void check_column(std::size_t i) const {
    const std::string& field = header_.fields[i];
    if (*column(field) != i) throw error(header_, i, "column '" + field + "' is there twice");
    std::vector<std::string> valid{"suite", "op", "dtype"};
    for (const Op* op : case_ops()) {
      for (const Parameter& parameter : op->parameters) {
        if (std::ranges::find(valid, parameter.name) == valid.end()) {
          valid.emplace_back(parameter.name);
        }
      }
    }
    if (std::ranges::find(valid, field) == valid.end()) {
      throw error(header_, i, unknown_name("column", field, valid));
    }
  }

  UsageError error(const CsvRow& row, std::size_t field, const std::string& why) const {
    return UsageError(std::string(name_) + ":" + std::to_string(row.line) + ":" +
                      std::to_string(row.columns[field]) + ": " + why);
  }

  std::string_view name_;
  CsvRow header_;
};

}  // namespace

std::vector<Case> read_case_file(std::istream& text, std::string_view name) {
  const std::vector<CsvRow> rows = read_csv(text, name);
  if (rows.empty()) throw UsageError(std::string(name) + ":1:1: no header");
  const Reader reader(name, rows.front());
  std::vector<Case> cases;
  for (std::size_t i = 1; i < rows.size(); ++i) cases.push_back(reader.read(rows[i]));
  if (cases.empty()) throw UsageError(std::string(name) + ": a header, but no cases");
  return cases;
}

}  // namespace assay
