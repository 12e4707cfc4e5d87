#include "reports/files/run_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "harness/records/json_text.h"
#include "kernels/core/status.h"
#include "reports/files/atomic_file.h"

namespace assay {
namespace {

constexpr int schema = 1;

/// When the value of a key is known; it is null before. Of those that are known from the start,
/// some may be absent from a file.
enum class Known { from_the_start, or_default, at_the_end, with_its_time };

/// Visits the keys whose values are fields: one list for reading and writing.
template <class S, class Visitor>
void visit_keys(S& session,
                Visitor&& visit) requires std::same_as<std::remove_const_t<S>, Session> {
  visit("started_at", session.started_at, Known::from_the_start);
  visit("ended_at", session.ended_at, Known::at_the_end);
  visit("interrupted", session.interrupted, Known::at_the_end);
  visit("exit_code", session.exit_code, Known::at_the_end);
  visit("command_line", session.command_line, Known::or_default);
  visit("wall_s", session.wall_s, Known::with_its_time);
  visit("trials_taken", session.taken, Known::with_its_time);
}

template <class R, class Visitor>
void visit_keys(R& run, Visitor&& visit) requires std::same_as<std::remove_const_t<R>, RunInfo> {
  visit("run_id", run.run_id, Known::from_the_start);
  visit("host", run.host, Known::from_the_start);
  visit("started_at", run.started_at, Known::from_the_start);
  visit("ended_at", run.ended_at, Known::at_the_end);
  visit("interrupted", run.interrupted, Known::at_the_end);
  visit("exit_code", run.exit_code, Known::at_the_end);
  visit("command_line", run.command_line, Known::from_the_start);
  visit("version", run.version, Known::or_default);
  visit("git_revision", run.git_revision, Known::from_the_start);
  visit("build_type", run.build_type, Known::or_default);
  visit("compiler", run.compiler, Known::or_default);
  visit("build_id", run.build_id, Known::from_the_start);
  visit("seed", run.seed, Known::or_default);
  visit("profile", run.profile, Known::or_default);
  visit("check_only", run.check_only, Known::or_default);
  visit("planned", run.planned, Known::from_the_start);
  visit("allow_flaky", run.allow_flaky, Known::or_default);
  visit("wall_s", run.wall_s, Known::with_its_time);
  visit("trials_taken", run.taken, Known::with_its_time);
  visit("notes", run.notes, Known::or_default);
}

/// Reads the keys of an object into its fields. One that has ended says how.
template <class Fields>
void read_keys(const JsonObject& keys, Fields& fields) {
  bool ended = false;
  visit_keys(fields, [&](const char* key, auto& field, Known known) {
    const bool is_needed = known == Known::from_the_start || (known == Known::at_the_end && ended);
    is_needed ? keys.need(key, field) : keys.get(key, field);
    ended = !fields.ended_at.empty();
  });
}

template <class Fields>
void write_keys(nlohmann::ordered_json& json, const Fields& fields, bool ended, bool timed) {
  visit_keys(fields, [&](const char* key, const auto& field, Known known) {
    const bool is_known = known == Known::at_the_end      ? ended
                          : known == Known::with_its_time ? timed
                                                          : true;
    json[key] = is_known ? nlohmann::ordered_json(field) : nlohmann::ordered_json();
  });
}

std::vector<Session> sessions_of(const JsonObject& keys) {
  std::vector<Session> sessions;
  if (const nlohmann::json* const stored = keys.find("sessions")) {
    if (!stored->is_array()) throw UsageError("'sessions' must be a list");
    for (const nlohmann::json& one : *stored) {
      read_keys(JsonObject(one), sessions.emplace_back());
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
  read_keys(keys, run);
  run.sessions = sessions_of(keys);
  if (const nlohmann::json* const list = keys.find("expected")) run.expected = given_file(*list);
  if (const nlohmann::json* const kernels = keys.find("kernels")) {
    run.kernels = given_file(*kernels);
    JsonObject(*kernels).need("name", run.kernels_name);
  }
  if (const nlohmann::json* const ops = keys.find("own_ops")) run.own_ops = given_file(*ops);
  if (const nlohmann::json* const problem = keys.find("problem")) {
    run.problem = given_file(*problem);
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

}  // namespace

RunInfo parse_run_json(std::string_view text) { return from_json(parse_json(text)); }

std::string run_json(const RunInfo& run, bool ended) {
  using Value = nlohmann::ordered_json;
  Value devices = Value::array();
  for (const DeviceInfo& device : run.devices) devices.push_back(device.device);
  Value environment = Value::object();
  for (const auto& [name, value] : run.environment) environment[name] = value;
  Value sessions = Value::array();
  for (const Session& session : run.sessions) {
    write_keys(sessions.emplace_back(), session, session.ended(), session.ended());
  }

  const bool timed = ended || std::ranges::any_of(run.sessions, &Session::ended);

  Value json;
  json["schema"] = schema;
  write_keys(json, run, ended, timed);
  json["devices"] = devices;
  json["environment"] = environment;
  json["expected"] = json_of(run.expected);
  json["kernels"] = json_of(run.kernels);
  if (!run.kernels.path.empty()) json["kernels"]["name"] = run.kernels_name;
  if (!run.own_ops.path.empty()) json["own_ops"] = json_of(run.own_ops);
  if (!run.problem.path.empty()) json["problem"] = json_of(run.problem);
  json["sessions"] = sessions;
  json["references"] =
      timed ? Value{{"computed", run.references_computed}, {"shared", run.references_shared}}
            : Value();
  Value phases_s = Value::object();
  for (const Phase& phase : all_phases) phases_s[phase.name] = run.phases.*phase.seconds;
  json["phases_s"] = timed ? phases_s : Value();
  // A command line may hold any bytes: invalid UTF-8 is replaced, not refused.
  return json.dump(2, ' ', false, Value::error_handler_t::replace) + "\n";
}

void RunJson::begin(const RunInfo& run) { write_atomically(path_, run_json(run, false)); }

void RunJson::end(const RunInfo& run) { write_atomically(path_, run_json(run, true)); }

}  // namespace assay
