#include "reports/run_json.h"

#include <nlohmann/json.hpp>

#include "reports/atomic_file.h"

namespace assay {

std::string run_json(const RunInfo& run, bool ended) {
  using Json = nlohmann::ordered_json;
  Json devices = Json::array();
  for (const DeviceInfo& device : run.devices) devices.push_back(device.device);
  Json environment = Json::object();
  for (const auto& [name, value] : run.environment) environment[name] = value;

  Json json;
  json["schema"] = 1;
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
