#include "reports/page/sources.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/records/json_text.h"
#include "harness/records/replay.h"
#include "kernels/core/status.h"
#include "reports/files/csv_file.h"
#include "reports/files/table_file.h"

namespace assay::page {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Returns "monday", however the path to it is written.
std::string name_of(const fs::path& directory) {
  const fs::path whole = fs::absolute(directory / "").lexically_normal();
  return whole.parent_path().filename().string();
}

/// Reads the file as it is, without a torn last row of a run that did not end; empty if there is
/// none.
CsvSource read_source(const fs::path& directory, const char* file, bool ended) {
  CsvSource source{.name = name_of(directory) + "/" + file};
  if (!fs::exists(directory / file)) return source;
  source.bytes = read_text(directory / file);
  if (ended) return source;
  const std::vector<std::size_t> ends = row_ends(source.bytes);
  source.bytes.resize(ends.empty() ? 0 : ends.back());
  return source;
}

/// Finds the row behind each outcome.
std::vector<std::size_t> rows_of(const std::vector<Record>& outcomes,
                                 const std::vector<Record>& records) {
  const auto key = [](const Record& record) {
    return std::tie(record.case_id, record.device, record.timing, record.attempt, record.repeat);
  };
  std::map<decltype(key(records.front())), std::size_t> indices;
  for (std::size_t i = 0; i < records.size(); ++i) indices.emplace(key(records[i]), i);
  std::vector<std::size_t> rows;
  rows.reserve(outcomes.size());
  for (const Record& outcome : outcomes) rows.push_back(indices.at(key(outcome)));
  return rows;
}

const Json& object_of(const JsonObject& keys, const char* key) {
  const Json* const found = keys.find(key);
  if (found == nullptr) throw UsageError(fmt::format("'{}' is missing", key));
  return *found;
}

std::string side_text(const JsonObject& side) {
  std::string program;
  side.need("program", program);
  std::string text = shell_word(program);
  const JsonObject environment(object_of(side, "environment"));
  for (const auto& entry : environment.items()) {
    std::string value;
    environment.need(entry.key().c_str(), value);
    text += fmt::format(" {}={}", entry.key(), shell_word(value));
  }
  std::string kernels;
  side.get("kernels", kernels);
  if (!kernels.empty()) text += " --kernels " + shell_word(kernels);
  std::vector<std::string> faults;
  side.need("sim_faults", faults);
  for (const std::string& fault : faults) text += " --sim-fault " + shell_word(fault);
  return text;
}

void read_paired_json(const Json& json, PairedSource& source) {
  const JsonObject keys(json);
  keys.need("host", source.host);
  keys.need("started_at", source.started_at);
  source.ended = keys.find("ended_at") != nullptr;
  if (source.ended) {
    keys.need("interrupted", source.interrupted);
    keys.need("exit_code", source.exit_code);
  }
  source.base = side_text(JsonObject(object_of(keys, "base")));
  source.cand = side_text(JsonObject(object_of(keys, "cand")));
  keys.need("planned", source.planned);
  keys.need("margin_reason", source.margin_reason);
  keys.need("notes", source.notes);
}

}  // namespace

bool is_paired_directory(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / "ab.json", error);
}

RunSource read_run_source(const fs::path& directory) {
  RunSource source{.run = read_stored_run(directory)};
  source.devices = read_stored_devices(directory);
  source.limits = read_table_file<Limit>(directory / "limits.csv",
                                         source.run.ended() ? LastRow::whole : LastRow::maybe_torn);
  source.records = read_stored_results(source.run);
  const Outcomes outcomes(source.records);
  source.trials = outcomes.trials();
  source.tally = outcomes.tally();
  source.rows = rows_of(source.trials, source.records);
  source.verdict = run_verdict(source.run, source.tally);
  source.results = read_source(directory, "results.csv", source.run.ended());
  source.limits_csv = read_source(directory, "limits.csv", source.run.ended());
  return source;
}

PairedSource read_paired_source(const fs::path& directory) {
  PairedSource source;
  const fs::path path = directory / "ab.json";
  try {
    read_paired_json(parse_json(read_text(path, max_json_bytes)), source);
  } catch (const UsageError& wrong) {
    throw UsageError(fmt::format("{}: {}", path.string(), wrong.what()));
  }
  const fs::path rows = directory / "ab.csv";
  source.cases = read_table_file<PairedCase>(rows);
  // A comparison without its rows would look as if it had found nothing.
  if (source.ended && !fs::exists(rows)) {
    throw UsageError(fmt::format("{}: cannot be read", rows.string()));
  }
  if (source.ended && !source.interrupted && std::ssize(source.cases) < source.planned) {
    throw UsageError(fmt::format("{}: {} rows where {} cases were planned", rows.string(),
                                 source.cases.size(), source.planned));
  }
  source.name = name_of(directory);
  source.csv = read_source(directory, "ab.csv", source.ended);
  return source;
}

}  // namespace assay::page
