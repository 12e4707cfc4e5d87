#include "harness/records/csv_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/names.h"

namespace assay {

CsvHeader::CsvHeader(std::string_view name, const CsvRow& header) : name_(name), header_(header) {
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    if (!places_.emplace(header.fields[i], i).second) {
      throw error(header, i, fmt::format("column '{}' is there twice", header.fields[i]));
    }
  }
}

void CsvHeader::allow(std::span<const std::string> valid) const {
  for (std::size_t i = 0; i < header_.fields.size(); ++i) {
    if (std::ranges::find(valid, header_.fields[i]) == valid.end()) {
      throw error(header_, i, unknown_name("column", header_.fields[i], valid));
    }
  }
}

void CsvHeader::need(std::string_view column) const {
  if (place(column) != absent) return;
  throw error(header_, 0, fmt::format("the header needs a column '{}'", column));
}

void CsvHeader::check_width(const CsvRow& row) const {
  if (row.fields.size() == header_.fields.size()) return;
  throw error(
      row, row.fields.size() - 1,
      fmt::format("{} fields where the header has {}", row.fields.size(), header_.fields.size()));
}

std::size_t CsvHeader::place(std::string_view column) const {
  const auto found = places_.find(column);
  return found == places_.end() ? absent : found->second;
}

std::string CsvHeader::cell(const CsvRow& row, std::string_view column) const {
  const std::size_t at = place(column);
  return at == absent ? std::string() : row.fields[at];
}

UsageError CsvHeader::error(const CsvRow& row, std::size_t field, std::string_view why) const {
  return UsageError(fmt::format("{}:{}:{}: {}", name_, row.line, row.columns[field], why));
}

}  // namespace assay
