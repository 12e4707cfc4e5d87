#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <sstream>

#include "harness/records/csv_table.h"
#include "harness/records/fields_text.h"
#include "kernels/core/status.h"
#include "reports/files/results_reader.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace assay;

std::vector<Record> read(const std::string& text) {
  std::istringstream stream(text);
  return read_results(stream, "results.csv");
}

/// Returns the fields as they are in memory: cells hide non-finite numbers and invalid UTF-8.
std::vector<std::string> exact(const Record& record) {
  std::vector<std::string> fields;
  visit_fields(record, [&]<class T>(const char*, const T& field) {
    if constexpr (std::same_as<T, std::string>) {
      fields.push_back(field);
    } else if constexpr (std::same_as<T, std::optional<double>>) {
      fields.push_back(field ? std::to_string(std::bit_cast<std::uint64_t>(*field)) : "");
    } else {
      fields.push_back(to_cell(field));
    }
  });
  return fields;
}

}  // namespace

// Results are refused, or can be written and read again unchanged.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<Record> records;
  try {
    records = read(std::string(fuzzing::text_of(data, size)));
  } catch (const UsageError&) {
    return 0;
  }
  const std::vector<Record> again = read(write_table(records));
  fuzzing::demand(again.size() == records.size(), "every record is read back");
  for (std::size_t i = 0; i < records.size(); ++i) {
    fuzzing::demand(exact(again[i]) == exact(records[i]), "what was written reads back as it was");
  }
  return 0;
}
