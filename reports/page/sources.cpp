#include "reports/page/sources.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/replay.h"
#include "kernels/base/status.h"
#include "reports/csv_file.h"
#include "reports/csv_rows.h"
#include "reports/limits_csv.h"

namespace assay::page {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// "monday", however the path to it is written.
std::string name_of(const fs::path& directory) {
  const fs::path whole = fs::absolute(directory / "").lexically_normal();
  return whole.parent_path().filename().string();
}

/// The file as it is, without the part of a row that a run which did not end may have left; empty
/// where there is none.
CsvSource read_source(const fs::path& directory, const char* file, bool ended) {
  CsvSource source{.name = name_of(directory) + "/" + file};
  if (!fs::exists(directory / file)) return source;
  source.bytes = read_text(directory / file);
  if (ended) return source;
  const std::vector<std::size_t> ends = row_ends(source.bytes);
  source.bytes.resize(ends.empty() ? 0 : ends.back());
  return source;
}

/// The row behind each outcome.
std::vector<std::size_t> rows_of(const std::vector<Record>& outcomes,
                                 const std::vector<Record>& records) {
  const auto key = [](const Record& record) {
    return std::tie(record.case_id, record.device, record.timing, record.attempt, record.repeat);
  };
  std::map<decltype(key(records.front())), std::size_t> places;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    if (places.emplace(key(record), i).second) continue;
    // A row that is there twice would hide one that is missing.
    throw UsageError(fmt::format(
        "row {} repeats {} on {}, {}, attempt {}, repeat {}", i + 1, record.case_id, record.device,
        record.timing.empty() ? "checked" : record.timing, record.attempt, record.repeat));
  }
  std::vector<std::size_t> rows;
  rows.reserve(outcomes.size());
  for (const Record& outcome : outcomes) rows.push_back(places.at(key(outcome)));
  return rows;
}

std::string side_text(const Json& side) {
  std::string text = shell_word(side.at("program").get<std::string>());
  for (const auto& [name, value] : side.at("environment").items()) {
    text += fmt::format(" {}={}", name, shell_word(value.get<std::string>()));
  }
  for (const auto& fault : side.at("sim_faults")) {
    text += " --sim-fault " + shell_word(fault.get<std::string>());
  }
  return text;
}

void read_paired_json(const Json& json, PairedSource& source) {
  source.host = json.at("host").get<std::string>();
  source.started_at = json.at("started_at").get<std::string>();
  source.ended = json.at("ended_at").is_string();
  if (source.ended) {
    source.interrupted = json.at("interrupted").get<bool>();
    source.exit_code = json.at("exit_code").get<int>();
  }
  source.base = side_text(json.at("base"));
  source.cand = side_text(json.at("cand"));
  source.planned = json.at("planned").get<std::int64_t>();
  source.margin_reason = json.at("margin_reason").get<std::string>();
  source.notes = json.at("notes").get<std::vector<std::string>>();
}

}  // namespace

bool is_paired_directory(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / "ab.json", error);
}

RunSource read_run_source(const fs::path& directory) {
  RunSource source{.run = read_stored_run(directory)};
  source.devices = read_stored_devices(directory);
  source.limits = read_limits(directory / "limits.csv");
  const std::vector<Record> records = read_stored_results(source.run);
  const Outcomes outcomes(records);
  source.trials = outcomes.trials();
  source.tally = outcomes.tally();
  try {
    source.rows = rows_of(source.trials, records);
  } catch (const UsageError& twice) {
    throw UsageError(fmt::format("{}: {}", (directory / "results.csv").string(), twice.what()));
  }
  source.verdict = run_verdict(source.run, source.tally);
  source.results = read_source(directory, "results.csv", source.run.ended());
  source.limits_csv = read_source(directory, "limits.csv", source.run.ended());
  return source;
}

PairedSource read_paired_source(const fs::path& directory) {
  PairedSource source;
  const fs::path path = directory / "ab.json";
  try {
    read_paired_json(Json::parse(read_text(path)), source);
  } catch (const Json::exception& wrong) {
    throw UsageError(fmt::format("{}: {}", path.string(), wrong.what()));
  }
  const fs::path rows = directory / "ab.csv";
  source.cases = read_rows<PairedCase>(rows);
  // Without its rows a comparison that ended would look as if it had found nothing.
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
