#include "harness/plan/expected_failures.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>

#include "harness/plan/case.h"
#include "harness/records/csv.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/device/device_id.h"

namespace assay {
namespace {

const std::vector<std::string> columns{"case",   "reason", "owner",         "expires",
                                       "device", "status", "implementation"};
constexpr std::size_t required_columns = 4;

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

/// True for YYYY-MM-DD, digits only: dates are compared as text.
bool is_date(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-dd";
  const auto fits = [](char c, char wanted) {
    return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted;
  };
  if (!std::ranges::equal(text, form, fits)) return false;
  const auto number = [&](std::size_t at, std::size_t digits) {
    unsigned value = 0;
    std::from_chars(text.data() + at, text.data() + at + digits, value);
    return value;
  };
  using namespace std::chrono;
  return year_month_day(year(static_cast<int>(number(0, 4))), month(number(5, 2)),
                        day(number(8, 2)))
      .ok();
}

/// True for one device, or several in the form of results.csv. An index may be `*`.
bool is_lane(const std::string& text, std::span<const std::string> backends) {
  return std::ranges::all_of(split_lane(text), [&](const std::string& device) {
    const bool is_any = device.ends_with(":*");
    const auto id = parse_device_id(is_any ? device.substr(0, device.size() - 1) + "0" : device);
    return id && std::ranges::find(backends, id->backend) != backends.end();
  });
}

/// Cells of one row by column, and errors that name a cell.
class Row {
 public:
  Row(std::string_view file, const CsvRow& header, const CsvRow& row) : file_(file), row_(row) {
    if (row.fields.size() != header.fields.size()) {
      throw UsageError(fmt::format("{}:{}:1: {} fields where the header has {}", file, row.line,
                                   row.fields.size(), header.fields.size()));
    }
    for (std::size_t i = 0; i < header.fields.size(); ++i) index_[header.fields[i]] = i;
  }
  std::string operator[](const std::string& column) const {
    const auto found = index_.find(column);
    return found == index_.end() ? "" : row_.fields[found->second];
  }
  UsageError error(const std::string& column, const std::string& why) const {
    const auto found = index_.find(column);
    const std::size_t at = found == index_.end() ? 1 : row_.columns[found->second];
    return UsageError(fmt::format("{}:{}:{}: {}: {}", file_, row_.line, at, column, why));
  }

 private:
  std::string_view file_;
  const CsvRow& row_;
  std::map<std::string, std::size_t> index_;
};

void check_header(std::string_view file, const CsvRow& header) {
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const std::string& field = header.fields[i];
    const auto fail = [&](const std::string& why) {
      return UsageError(fmt::format("{}:{}:{}: {}", file, header.line, header.columns[i], why));
    };
    if (std::ranges::find(columns, field) == columns.end()) {
      throw fail(unknown_name("column", field, columns));
    }
    if (std::ranges::count(header.fields, field) > 1) {
      throw fail("column '" + field + "' is there twice");
    }
  }
  for (std::size_t i = 0; i < required_columns; ++i) {
    if (std::ranges::find(header.fields, columns[i]) != header.fields.end()) continue;
    throw UsageError(
        fmt::format("{}:{}:1: the header needs a column '{}'", file, header.line, columns[i]));
  }
}

}  // namespace

ExpectedFailures::ExpectedFailures(std::istream& text, std::string_view name, std::string today,
                                   std::span<const std::string> backends)
    : name_(name), today_(std::move(today)) {
  const std::vector<CsvRow> rows = read_csv(text, name);
  if (rows.empty()) throw UsageError(fmt::format("{}:1:1: no header", name));
  check_header(name, rows.front());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Row row(name, rows.front(), rows[i]);
    Entry entry{rows[i].line, row["case"],   row["device"], row["implementation"],
                Status::fail, row["reason"], row["owner"],  row["expires"]};
    for (const char* column : {"case", "reason", "owner", "expires"}) {
      if (is_blank(row[column])) throw row.error(column, "must not be empty");
    }
    if (!is_pattern(entry.test)) {
      try {
        entry.test = parse_case_id(entry.test).id();
      } catch (const UsageError& error) {
        throw row.error("case", error.what());
      }
    }
    if (!is_date(entry.expires)) {
      throw row.error("expires", "'" + entry.expires + "' is no date; expected YYYY-MM-DD");
    }
    if (!entry.device.empty() && !is_lane(entry.device, backends)) {
      throw row.error("device", fmt::format("'{}' is no device; expected one of {} and its number, "
                                            "as cuda:0 or cuda:*, or several as in results.csv",
                                            entry.device, join(backends, ", ")));
    }
    if (!row["status"].empty()) {
      const auto status = parse_status(row["status"]);
      if (!status || class_of(*status) == StatusClass::right ||
          class_of(*status) == StatusClass::skipped) {
        throw row.error("status", "'" + row["status"] + "' is no failure");
      }
      entry.status = *status;
    }
    entries_.push_back(std::move(entry));
  }
}

std::vector<std::string> ExpectedFailures::without_case(
    std::span<const std::string> case_ids) const {
  std::vector<std::string> notes;
  for (const Entry& entry : entries_) {
    const bool matches = std::ranges::any_of(case_ids, [&](const std::string& id) {
      return fnmatch(entry.test.c_str(), id.c_str(), 0) == 0;
    });
    if (matches || !is_pattern(entry.test)) continue;  // an id was read as one
    notes.push_back(fmt::format("{}:{}: {}: no case matches", name_, entry.line, entry.test));
  }
  return notes;
}

bool ExpectedFailures::Entry::concerns(const Record& record) const {
  const auto matches = [](const std::string& pattern, const std::string& text) {
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  };
  const auto concerns_lane = [&] {
    return std::ranges::equal(split_lane(device), split_lane(record.device), matches);
  };
  return (device.empty() || concerns_lane()) && matches(test, record.case_id) &&
         (implementation.empty() || matches(implementation, record.implementation));
}

std::string ExpectedFailures::accept(const Record& failure) const {
  for (const Entry& entry : entries_) {
    if (!entry.concerns(failure) || entry.status != failure.status || has_expired(entry)) continue;
    return fmt::format("{} ({}, until {})", entry.reason, entry.owner, entry.expires);
  }
  return {};
}

std::vector<std::string> ExpectedFailures::notes(const std::vector<Record>& outcomes) const {
  std::vector<std::string> notes;
  for (const Entry& entry : entries_) {
    std::int64_t passes = 0;
    std::int64_t failures = 0;
    for (const Record& outcome : outcomes) {
      if (!entry.concerns(outcome)) continue;
      passes += outcome.status == Status::pass ? 1 : 0;
      failures += outcome.status == entry.status ? 1 : 0;
    }
    const std::string where = fmt::format("{}:{}: {}", name_, entry.line, entry.test);
    if (has_expired(entry) && failures > 0) {
      notes.push_back(fmt::format("{}: no longer accepted: the entry of {} expired on {}", where,
                                  entry.owner, entry.expires));
    } else if (passes > 0 && failures == 0) {
      notes.push_back(
          fmt::format("{}: unexpected pass: {} can take the entry out", where, entry.owner));
    }
  }
  return notes;
}

}  // namespace assay
