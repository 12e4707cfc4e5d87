#include "reports/files/paired_json.h"

#include <nlohmann/json.hpp>

#include "harness/records/fields_json.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

Json variables(const std::vector<std::pair<std::string, std::string>>& environment) {
  Json object = Json::object();
  for (const auto& [name, value] : environment) object[name] = value;
  return object;
}

Json side(const PairedSide& side) {
  Json devices = Json::array();
  for (const DeviceInfo& device : side.devices) devices.push_back(Json(fields_to_json(device)));
  return {{"program", side.program.string()},
          {"build_id", side.build_id},
          {"environment", variables(side.environment)},
          {"sim_faults", side.sim_faults},
          {"kernels", side.kernels},
          {"kernels_name", side.kernels_name},
          {"devices", devices}};
}

}  // namespace

std::string paired_json(const PairedInfo& info, bool ended) {
  Json json;
  json["schema"] = 1;
  json["run_id"] = info.run_id;
  json["host"] = info.host;
  json["started_at"] = info.started_at;
  json["ended_at"] = ended ? Json(info.ended_at) : Json();
  json["interrupted"] = ended ? Json(info.interrupted) : Json();
  json["exit_code"] = ended ? Json(info.exit_code) : Json();
  json["wall_s"] = ended ? Json(info.wall_s) : Json();
  json["command_line"] = info.command_line;
  json["base"] = side(info.base);
  json["cand"] = side(info.cand);
  json["environment"] = variables(info.environment);
  json["seed"] = info.seed;
  json["planned"] = info.planned;
  json["margin"] = info.margin;
  json["margin_reason"] = info.margin_reason;
  json["screen"] = {{"rounds", info.screen_rounds}, {"p", info.screen_p}};
  json["confirm"] = {{"rounds", info.confirm_rounds}, {"p", info.confirm_p}};
  json["samples"] = info.samples;
  json["notes"] = info.notes;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay
