#include "reports/files/stored_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "harness/records/csv_table.h"
#include "harness/records/fields_text.h"
#include "harness/records/input_file.h"
#include "kernels/core/status.h"
#include "reports/files/csv_file.h"
#include "reports/files/results_reader.h"
#include "reports/files/run_json.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// "2026-05-04T13:02:01Z", with a fraction of the second or without.
bool is_utc(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() <= form.size() || text.back() != 'Z') return false;
  const std::string_view fraction = text.substr(form.size(), text.size() - form.size() - 1);
  return std::ranges::equal(form, text.substr(0, form.size()),
                            [&](char expected, char c) {
                              return expected == 'd' ? is_digit(c) : c == expected;
                            }) &&
         (fraction.empty() ||
          (fraction.front() == '.' && std::ranges::all_of(fraction.substr(1), is_digit)));
}

/// The inverse of utc_text: seconds since 1970. Throws UsageError.
double parse_utc(const std::string& text) {
  using namespace std::chrono;
  if (!is_utc(text)) throw UsageError("started_at: not a time in UTC: '" + text + "'");
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    from_cell(std::string_view(text).substr(at, digits), value);
    return value;
  };
  const year_month_day date(year(number(0, 4)), month(static_cast<unsigned>(number(5, 2))),
                            day(static_cast<unsigned>(number(8, 2))));
  double seconds = 0;  // with its fraction
  from_cell(std::string_view(text).substr(17, text.size() - 18), seconds);
  if (!date.ok() || number(11, 2) > 23 || number(14, 2) > 59 || !(seconds < 61)) {
    throw UsageError("started_at: impossible time: '" + text + "'");
  }
  const auto days = static_cast<double>(sys_days(date).time_since_epoch().count());
  return ((days * 24 + number(11, 2)) * 60 + number(14, 2)) * 60 + seconds;
}

bool is_run_directory(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "run.json", error) || fs::exists(path / "results.csv", error);
}

}  // namespace

std::vector<fs::path> find_run_directories(std::span<const fs::path> paths) {
  std::vector<fs::path> found;
  std::set<fs::path> seen;
  const auto add = [&](const fs::path& path) {
    if (seen.insert(fs::weakly_canonical(path)).second) found.push_back(path);
  };
  for (const fs::path& path : paths) {
    if (is_run_directory(path)) {
      add(path);
      continue;
    }
    std::error_code error;
    std::vector<fs::path> below;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      if (is_run_directory(entry->path())) below.push_back(entry->path());
    }
    if (error) throw UsageError(fmt::format("'{}': {}", path.string(), error.message()));
    if (below.empty()) {
      throw UsageError(
          fmt::format("'{}' is not a run directory and holds none: 'assay run' writes one, with "
                      "run.json and results.csv",
                      path.string()));
    }
    std::ranges::sort(below);
    std::ranges::for_each(below, add);
  }
  return found;
}

StoredRun read_stored_run(const fs::path& directory) {
  const fs::path path = directory / "run.json";
  if (!fs::is_regular_file(path)) throw UsageError(path.string() + ": cannot be read");
  try {
    StoredRun run{parse_run_json(read_text(path, max_json_bytes))};
    run.directory = directory;
    run.started_s = parse_utc(run.started_at);
    return run;
  } catch (const UsageError& wrong) {
    throw UsageError(fmt::format("{}: {}", path.string(), wrong.what()));
  }
}

std::vector<Record> read_stored_results(const StoredRun& run) {
  const fs::path path = run.directory / "results.csv";
  return run.ended() ? read_results_file(path) : read_whole_results(path);
}

std::vector<DeviceCells> read_stored_devices(const fs::path& directory) {
  const std::string name = (directory / "devices.csv").string();
  InputFile file(name);
  std::vector<DeviceCells> devices;
  each_table_row(file, name, {.required = {"device", "backend", "name"}}, [&](const TableRow& row) {
    DeviceCells& cells = devices.emplace_back();
    for (std::size_t at = 0; at < row.columns().size(); ++at) {
      cells[row.columns()[at]] = row.cells()[at];
    }
  });
  if (devices.empty()) throw UsageError(name + ": no device");
  return devices;
}

}  // namespace assay
