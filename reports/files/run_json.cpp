#include "reports/files/run_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/records/json_text.h"
#include "kernels/core/status.h"
#include "reports/files/atomic_file.h"

namespace assay {
namespace {

constexpr int schema = 1;

std::vector<Session> sessions_of(const JsonObject& keys) {
  std::vector<Session> sessions;
  if (const nlohmann::json* const stored = keys.find("sessions")) {
    if (!stored->is_array()) throw UsageError("'sessions' must be a list");
    for (const nlohmann::json& one : *stored) {
      const JsonObject session_keys(one);
      Session& session = sessions.emplace_back();
      session_keys.need("started_at", session.started_at);
      session_keys.get("ended_at", session.ended_at);
      session_keys.get("command_line", session.command_line);
      session_keys.get("interrupted", session.interrupted);
      session_keys.get("exit_code", session.exit_code);
      session_keys.get("wall_s", session.wall_s);
      session_keys.get("trials_taken", session.taken);
    }
  }
  return sessions;
}

GivenFile given_file(const nlohmann::json& json) {
  const JsonObject keys(json);
  GivenFile file;
  std::string path;
  keys.need("path", path);
  keys.need("crc32", file.crc32);
  file.path = path;
  return file;
}

nlohmann::ordered_json json_of(const GivenFile& file) {
  if (file.path.empty()) return {};
  return {{"path", file.path.string()}, {"crc32", file.crc32}};
}

RunInfo from_json(const nlohmann::json& json) {
  const JsonObject keys(json);
  int written = schema;
  keys.get("schema", written);
  if (written > schema) {
    throw UsageError(
        fmt::format("schema {}, and this build of assay reads up to {}; read it with a newer one",
                    written, schema));
  }
  RunInfo run;
  keys.need("run_id", run.run_id);
  keys.need("host", run.host);
  keys.need("started_at", run.started_at);
  keys.get("ended_at", run.ended_at);
  if (!run.ended_at.empty()) {
    keys.need("interrupted", run.interrupted);
    keys.need("exit_code", run.exit_code);
  }
  keys.need("command_line", run.command_line);
  keys.get("version", run.version);
  keys.need("git_revision", run.git_revision);
  keys.get("build_type", run.build_type);
  keys.get("compiler", run.compiler);
  keys.need("build_id", run.build_id);
  keys.get("seed", run.seed);
  keys.get("profile", run.profile);
  keys.get("check_only", run.check_only);
  keys.need("planned", run.planned);
  keys.get("allow_flaky", run.allow_flaky);
  keys.get("wall_s", run.wall_s);
  keys.get("trials_taken", run.taken);
  keys.get("notes", run.notes);
  run.sessions = sessions_of(keys);
  if (const nlohmann::json* const list = keys.find("expected")) run.expected = given_file(*list);
  if (const nlohmann::json* const kernels = keys.find("kernels")) {
    run.kernels = given_file(*kernels);
    JsonObject(*kernels).need("name", run.kernels_name);
  }
  if (const nlohmann::json* const references = keys.find("references")) {
    const JsonObject counts(*references);
    counts.get("computed", run.references_computed);
    counts.get("shared", run.references_shared);
  }
  if (const nlohmann::json* const phases = keys.find("phases_s")) {
    const JsonObject seconds(*phases);
    for (const Phase& phase : all_phases) seconds.get(phase.name, run.phases.*phase.seconds);
  }
  if (const nlohmann::json* const environment = keys.find("environment")) {
    for (const auto& [name, value] : JsonObject(*environment).items()) {
      run.environment.emplace_back(name,
                                   value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return run;
}

nlohmann::ordered_json json_of(const Session& session) {
  using Value = nlohmann::ordered_json;
  const bool ended = session.ended();
  return {{"started_at", session.started_at},
          {"ended_at", ended ? Value(session.ended_at) : Value()},
          {"interrupted", ended ? Value(session.interrupted) : Value()},
          {"exit_code", ended ? Value(session.exit_code) : Value()},
          {"command_line", session.command_line},
          {"wall_s", ended ? Value(session.wall_s) : Value()},
          {"trials_taken", ended ? Value(session.taken) : Value()}};
}

}  // namespace

RunInfo parse_run_json(std::string_view text) { return from_json(parse_json(text)); }

std::string run_json(const RunInfo& run, bool ended) {
  using Value = nlohmann::ordered_json;
  Value devices = Value::array();
  for (const DeviceInfo& device : run.devices) devices.push_back(device.device);
  Value environment = Value::object();
  for (const auto& [name, value] : run.environment) environment[name] = value;
  Value sessions = Value::array();
  for (const Session& session : run.sessions) sessions.push_back(json_of(session));

  const bool timed = ended || std::ranges::any_of(run.sessions, &Session::ended);

  Value json;
  json["schema"] = schema;
  json["run_id"] = run.run_id;
  json["host"] = run.host;
  json["started_at"] = run.started_at;
  json["ended_at"] = ended ? Value(run.ended_at) : Value();
  json["interrupted"] = ended ? Value(run.interrupted) : Value();
  json["exit_code"] = ended ? Value(run.exit_code) : Value();
  json["command_line"] = run.command_line;
  json["version"] = run.version;
  json["git_revision"] = run.git_revision;
  json["build_type"] = run.build_type;
  json["compiler"] = run.compiler;
  json["build_id"] = run.build_id;
  json["seed"] = run.seed;
  json["profile"] = run.profile;
  json["check_only"] = run.check_only;
  json["planned"] = run.planned;
  json["allow_flaky"] = run.allow_flaky;
  json["devices"] = devices;
  json["environment"] = environment;
  json["expected"] = json_of(run.expected);
  json["kernels"] = json_of(run.kernels);
  if (!run.kernels.path.empty()) json["kernels"]["name"] = run.kernels_name;
  json["sessions"] = sessions;
  json["references"] =
      timed ? Value{{"computed", run.references_computed}, {"shared", run.references_shared}}
            : Value();
  json["wall_s"] = timed ? Value(run.wall_s) : Value();
  json["trials_taken"] = timed ? Value(run.taken) : Value();
  Value phases_s = Value::object();
  for (const Phase& phase : all_phases) phases_s[phase.name] = run.phases.*phase.seconds;
  json["phases_s"] = timed ? phases_s : Value();
  json["notes"] = run.notes;
  // A command line may hold any bytes: invalid UTF-8 is replaced, not refused.
  return json.dump(2, ' ', false, Value::error_handler_t::replace) + "\n";
}

void RunJson::begin(const RunInfo& run) { write_atomically(path_, run_json(run, false)); }

void RunJson::end(const RunInfo& run) { write_atomically(path_, run_json(run, true)); }

}  // namespace assay
