#include "reports/ended_run.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/csv.h"
#include "harness/replay.h"
#include "kernels/base/names.h"
#include "kernels/base/status.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

[[noreturn]] void refuse(const fs::path& directory, std::string_view why) {
  throw UsageError(fmt::format("'{}' {}", directory.string(), why));
}

std::ifstream open_file(const fs::path& directory, const char* name) {
  std::ifstream file(directory / name, std::ios::binary);
  if (!file) {
    refuse(directory, fmt::format("is not a run directory: it has no {}; give what 'assay run' "
                                  "wrote (--out DIR, or assay-runs/TIME-HOST)",
                                  name));
  }
  return file;
}

/// The options that the run was called with, without where it wrote and how much it said.
std::string options_of(const std::vector<std::string>& command_line) {
  std::vector<std::string> options;
  for (std::size_t i = 1; i < command_line.size(); ++i) {
    const std::string& word = command_line[i];
    if (word == "--out") {
      ++i;
    } else if (word != "--quiet" && word != "--jsonl" && !word.starts_with("--out=")) {
      options.push_back(shell_word(word));
    }
  }
  return join(options, " ");
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void check_complete(const Json& json, const EndedRun& run) {
  const std::string remedy =
      fmt::format("complete it: assay run --resume {}", shell_word(run.directory.string()));
  if (!json.at("ended_at").is_string()) {
    refuse(run.directory, "holds a run that has not ended: it goes on, or was killed; " + remedy);
  }
  if (json.at("interrupted").get<bool>()) {
    refuse(run.directory, "holds a run that was interrupted; " + remedy);
  }
}

EndedRun from_json(const Json& json, const fs::path& directory) {
  constexpr int readable = 1;
  const int schema = json.at("schema").get<int>();
  if (schema > readable) {
    throw UsageError(
        fmt::format("'{}': schema {}, and this build of assay reads up to {}; read it "
                    "with a newer one",
                    (directory / "run.json").string(), schema, readable));
  }
  EndedRun run;
  run.directory = directory;
  check_complete(json, run);
  run.started_at = json.at("started_at").get<std::string>();
  run.host = json.at("host").get<std::string>();
  run.version = json.at("version").get<std::string>();
  run.git_revision = json.at("git_revision").get<std::string>();
  run.build_type = json.at("build_type").get<std::string>();
  run.planned = json.at("planned").get<std::int64_t>();
  run.exit_code = json.at("exit_code").get<int>();
  run.notes = json.value("notes", std::vector<std::string>());
  run.settings.emplace_back("options",
                            options_of(json.at("command_line").get<std::vector<std::string>>()));
  for (const char* const name : {"version", "git_revision", "build_type", "compiler", "build_id",
                                 "host", "seed", "profile", "check_only", "allow_flaky"}) {
    if (json.contains(name)) run.settings.emplace_back(name, text_of(json.at(name)));
  }
  for (const auto& [name, value] : json.at("environment").items()) {
    run.settings.emplace_back(name, text_of(value));
  }
  return run;
}

std::vector<DeviceCells> read_devices(const fs::path& directory) {
  const std::string name = (directory / "devices.csv").string();
  std::ifstream file = open_file(directory, "devices.csv");
  const std::vector<CsvRow> rows = read_csv(file, name);
  std::vector<DeviceCells> devices;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].fields.size() != rows[0].fields.size()) {
      throw UsageError(fmt::format("{}:{}: {} fields where the header has {}", name, rows[i].line,
                                   rows[i].fields.size(), rows[0].fields.size()));
    }
    DeviceCells& cells = devices.emplace_back();
    for (std::size_t at = 0; at < rows[i].fields.size(); ++at) {
      cells[rows[0].fields[at]] = rows[i].fields[at];
    }
    for (const char* const needed : {"device", "backend", "name"}) {
      if (!cells.contains(needed)) {
        throw UsageError(fmt::format("{}:1: the header needs a column '{}'", name, needed));
      }
    }
  }
  if (devices.empty()) throw UsageError(name + ": no device");
  return devices;
}

}  // namespace

EndedRun read_ended_run(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) refuse(directory, "is not a directory");
  std::ifstream file = open_file(directory, "run.json");
  try {
    EndedRun run = from_json(Json::parse(file), directory);
    run.devices = read_devices(directory);
    open_file(directory, "results.csv");
    return run;
  } catch (const Json::exception& wrong) {
    throw UsageError(fmt::format("'{}': {}", (directory / "run.json").string(), wrong.what()));
  }
}

}  // namespace assay
