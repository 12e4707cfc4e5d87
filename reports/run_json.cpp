#include "reports/run_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/base/status.h"
#include "reports/atomic_file.h"

namespace assay {
namespace {

constexpr int schema = 1;

/// Reads the keys of a run.json into fields.
class Keys {
 public:
  explicit Keys(const nlohmann::json& json) : json_(json) {}

  void text(const char* key, std::string& field) const {
    const nlohmann::json& value = json_.at(key);
    if (!value.is_string()) throw UsageError(fmt::format("'{}' must be text", key));
    field = value.get<std::string>();
  }
  /// What no verdict and no resuming can do without.
  template <class T>
  void known(const char* key, T& field) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) {
      throw UsageError(fmt::format("'{}' is missing", key));
    }
    any(key, field);
  }
  /// Where it is there and known.
  template <class T>
  void any(const char* key, T& field) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return;
    try {
      found->get_to(field);
    } catch (const nlohmann::json::exception& wrong) {
      throw UsageError(fmt::format("'{}': {}", key, wrong.what()));
    }
  }

 private:
  const nlohmann::json& json_;
};

RunInfo from_json(const nlohmann::json& json) {
  const Keys keys(json);
  int written = schema;
  keys.any("schema", written);
  if (written > schema) {
    throw UsageError(
        fmt::format("schema {}, and this build of assay reads up to {}; read it with a newer one",
                    written, schema));
  }
  RunInfo run;
  keys.text("run_id", run.run_id);
  keys.text("host", run.host);
  keys.text("started_at", run.started_at);
  keys.any("ended_at", run.ended_at);
  if (!run.ended_at.empty()) {
    keys.known("interrupted", run.interrupted);
    keys.known("exit_code", run.exit_code);
  }
  keys.known("command_line", run.command_line);
  keys.any("version", run.version);
  keys.text("git_revision", run.git_revision);
  keys.any("build_type", run.build_type);
  keys.any("compiler", run.compiler);
  keys.text("build_id", run.build_id);
  keys.any("seed", run.seed);
  keys.any("profile", run.profile);
  keys.any("check_only", run.check_only);
  keys.known("planned", run.planned);
  keys.any("allow_flaky", run.allow_flaky);
  keys.any("resumed_at", run.resumed_at);
  keys.any("wall_s", run.wall_s);
  keys.any("trials_taken", run.taken);
  keys.any("notes", run.notes);
  nlohmann::json environment = nlohmann::json::object();
  keys.any("environment", environment);
  for (const auto& [name, value] : environment.items()) {
    run.environment.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return run;
}

}  // namespace

RunInfo parse_run_json(std::string_view text) {
  try {
    return from_json(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& wrong) {
    throw UsageError(wrong.what());
  }
}

std::string run_json(const RunInfo& run, bool ended) {
  using Json = nlohmann::ordered_json;
  Json devices = Json::array();
  for (const DeviceInfo& device : run.devices) devices.push_back(device.device);
  Json environment = Json::object();
  for (const auto& [name, value] : run.environment) environment[name] = value;

  Json json;
  json["schema"] = schema;
  json["run_id"] = run.run_id;
  json["host"] = run.host;
  json["started_at"] = run.started_at;
  json["ended_at"] = ended ? Json(run.ended_at) : Json();
  json["interrupted"] = ended ? Json(run.interrupted) : Json();
  json["exit_code"] = ended ? Json(run.exit_code) : Json();
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
  json["resumed_at"] = run.resumed_at;
  json["references"] =
      ended ? Json{{"computed", run.references_computed}, {"shared", run.references_shared}}
            : Json();
  json["wall_s"] = ended ? Json(run.wall_s) : Json();
  json["trials_taken"] = ended ? Json(run.taken) : Json();
  Json phases_s = Json::object();
  for (const Phase& phase : all_phases) phases_s[phase.name] = run.phases.*phase.seconds;
  json["phases_s"] = ended ? phases_s : Json();
  json["notes"] = run.notes;
  // A command line may hold any bytes; those that are no UTF-8 are replaced rather than refused.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void RunJson::begin(const RunInfo& run) { write_atomically(path_, run_json(run, false)); }

void RunJson::end(const RunInfo& run) { write_atomically(path_, run_json(run, true)); }

}  // namespace assay
