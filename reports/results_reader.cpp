#include "reports/results_reader.h"

#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

#include "harness/csv.h"
#include "harness/fields_text.h"
#include "kernels/base/status.h"

namespace assay {
namespace {

constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

/// Where each field of a record stands in the rows of one file, found once.
class Reader {
 public:
  Reader(std::string_view name, const CsvRow& header) : name_(name), width_(header.fields.size()) {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < width_; ++i) {
      if (!places.emplace(header.fields[i], i).second) {
        throw error(header, i, "column '" + header.fields[i] + "' is there twice");
      }
    }
    const auto place = [&](std::string_view column) {
      const auto found = places.find(column);
      return found == places.end() ? absent : found->second;
    };
    for (const std::string& column : field_names<Record>()) places_.push_back(place(column));
    schema_at_ = place("schema_version");
    for (const std::string_view needed :
         {"case_id", "device", "timing", "attempt", "repeat", "status"}) {
      if (place(needed) == absent) {
        missing_ = error(header, 0, "the header needs a column '" + std::string(needed) + "'");
        break;
      }
    }
  }

  Record read(const CsvRow& row) const {
    check_schema(row);
    check_header();
    if (row.fields.size() != width_) {
      throw error(row, row.fields.size() - 1,
                  std::to_string(row.fields.size()) + " fields where the header has " +
                      std::to_string(width_));
    }
    Record record;
    auto at = places_.begin();
    visit_fields(record, [&](std::string_view column, auto& field) {
      const std::size_t place = *at++;
      if (place == absent) return;
      try {
        from_cell(row.fields[place], field);
      } catch (const UsageError& wrong) {
        throw error(row, place, std::string(column) + ": " + wrong.what());
      }
    });
    return record;
  }

  void check_header() const {
    if (missing_) throw UsageError(*missing_);
  }

 private:
  /// Before all else, as in a newer schema anything else may be different.
  void check_schema(const CsvRow& row) const {
    if (schema_at_ >= row.fields.size()) return;
    std::int64_t schema = 0;
    try {
      from_cell(row.fields[schema_at_], schema);
    } catch (const UsageError& wrong) {
      throw error(row, schema_at_, std::string("schema_version: ") + wrong.what());
    }
    if (schema > Record().schema_version) {
      throw error(row, schema_at_,
                  "schema version " + std::to_string(schema) + ", and this build of assay reads " +
                      "up to " + std::to_string(Record().schema_version) +
                      "; read it with a newer one");
    }
  }

  UsageError error(const CsvRow& row, std::size_t field, const std::string& why) const {
    return UsageError(std::string(name_) + ":" + std::to_string(row.line) + ":" +
                      std::to_string(row.columns[field]) + ": " + why);
  }

  std::string_view name_;
  std::size_t width_;
  std::vector<std::size_t> places_;  // in the order of visit_fields
  std::size_t schema_at_ = absent;
  std::optional<UsageError> missing_;  // thrown after the schema was looked at
};

}  // namespace

std::vector<Record> read_results(std::istream& text, std::string_view name) {
  std::optional<Reader> reader;
  std::vector<Record> records;
  each_csv_row(text, name, [&](const CsvRow& row) {
    if (reader) {
      records.push_back(reader->read(row));
    } else {
      reader.emplace(name, row);
    }
  });
  if (!reader) throw UsageError(std::string(name) + ":1:1: no header");
  reader->check_header();  // also where there is no row to read
  return records;
}

std::vector<Record> read_results_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path.string() + ": cannot be read");
  return read_results(file, path.string());
}

}  // namespace assay
