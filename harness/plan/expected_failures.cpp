#include "harness/plan/expected_failures.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "harness/plan/case.h"
#include "harness/records/csv_table.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/device/device_id.h"

namespace assay {
namespace {

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

}  // namespace

ExpectedFailures::ExpectedFailures(std::istream& text, std::string_view name, std::string today,
                                   std::span<const std::string> backends)
    : name_(name), today_(std::move(today)) {
  const std::vector<std::string> required{"case", "reason", "owner", "expires"};
  const auto check = [&](ExpectedFailure& entry, const TableRow& row) {
    entry.line = row.line();
    for (const std::string& column : required) {
      if (is_blank(row.cells()[row.index_of(column)])) throw row.error(column, "must not be empty");
    }
    if (!is_pattern(entry.test)) {
      try {
        entry.test = parse_case_id(entry.test).id();
      } catch (const UsageError& wrong) {
        throw row.error("case", wrong.what());
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
    if (!entry.status) entry.status = Status::fail;
    if (class_of(*entry.status) == StatusClass::right ||
        class_of(*entry.status) == StatusClass::skipped) {
      throw row.error("status", fmt::format("'{}' is no failure", assay::name(*entry.status)));
    }
  };
  entries_ = read_table<ExpectedFailure>(
      text, name, {.required = required, .allowed = field_names<ExpectedFailure>()}, check);
}

std::vector<std::string> ExpectedFailures::without_case(
    std::span<const std::string> case_ids) const {
  std::vector<std::string> notes;
  for (const ExpectedFailure& entry : entries_) {
    const bool matches = std::ranges::any_of(case_ids, [&](const std::string& id) {
      return fnmatch(entry.test.c_str(), id.c_str(), 0) == 0;
    });
    if (matches || !is_pattern(entry.test)) continue;  // an id was read as one
    notes.push_back(fmt::format("{}:{}: {}: no case matches", name_, entry.line, entry.test));
  }
  return notes;
}

bool ExpectedFailure::concerns(const Record& record) const {
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
  for (const ExpectedFailure& entry : entries_) {
    if (!entry.concerns(failure) || entry.status != failure.status || has_expired(entry)) continue;
    return fmt::format("{} ({}, until {})", entry.reason, entry.owner, entry.expires);
  }
  return {};
}

std::vector<std::string> ExpectedFailures::notes(const std::vector<Record>& outcomes) const {
  std::vector<std::string> notes;
  for (const ExpectedFailure& entry : entries_) {
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
