#include "harness/plan/protocol.h"

#include <nlohmann/json.hpp>

#include "harness/records/fields_json.h"
#include "harness/records/json_text.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay::protocol {
namespace {

using nlohmann::json;

/// Replaces bytes that are not UTF-8 instead of throwing: reports may quote any bytes.
std::string to_line(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Runs `read` and turns whatever it throws about the text into Malformed.
template <class Read>
auto parse(std::string_view line, const Read& read) {
  try {
    return read(parse_json(line));
  } catch (const json::exception& error) {
    throw Malformed(std::string("malformed line: ") + error.what());
  } catch (const UsageError& error) {
    throw Malformed(std::string("malformed line: ") + error.what());
  }
}

bool contains(const json& list, const std::string& text) {
  return std::ranges::find(list, json(text)) != list.end();
}

Offers read_offers(const json& object) {
  Offers offers{.name = object.at("name").get<std::string>()};
  for (const auto& [op, dtypes] : object.at("ops").items()) {
    Offer& offer = offers.ops.emplace_back(Offer{.op = op});
    for (const json& text : dtypes) {
      const auto format = parse_format(text.get<std::string>());
      if (!format) throw Malformed("malformed line: no dtype is called " + text.dump());
      offer.formats.push_back(*format);
    }
    offer.takes_views = contains(object.at("of_views"), op);
  }
  return offers;
}

json offers_to_json(const Offers& offers) {
  json ops = json::object();
  json of_views = json::array();
  for (const Offer& offer : offers.ops) {
    if (offer.takes_views) of_views.push_back(offer.op);
    for (const Format format : offer.formats) ops[offer.op].push_back(name(format));
  }
  return {{"name", offers.name}, {"ops", ops}, {"of_views", of_views}};
}

Hello read_hello(const json& object) {
  Hello hello;
  hello.protocol = whole_number<int>(object.at("protocol"));
  // Other versions have unknown fields; the caller refuses them by their number.
  if (hello.protocol != version) return hello;
  hello.schema = whole_number<std::int64_t>(object.at("schema"));
  hello.build_id = object.at("build_id").get<std::string>();
  for (const json& device : object.at("devices")) {
    hello.devices.push_back(fields_from_json<DeviceInfo>(device));
  }
  for (const json& backend : object.at("backends")) {
    backend.at("kind");  // the one field without a default
    hello.backends.push_back(fields_from_json<BackendTraits>(backend));
  }
  for (const json& problem : object.at("problems")) {
    hello.problems.push_back(
        {problem.at("backend").get<std::string>(), problem.at("text").get<std::string>()});
  }
  if (object.contains("kernels")) hello.kernels = read_offers(object.at("kernels"));
  hello.kernels_refused = object.value("kernels_refused", "");
  return hello;
}

/// [seconds, launches], or if the device tells its state, [.., clock_hz or null, throttled or
/// null], or of a copy both ways, [.., seconds_forth, seconds_back].
json sample_to_json(const Sample& sample) {
  json array{sample.seconds, sample.launches};
  const auto add = [&](const auto& field) { array.push_back(field ? json(*field) : json()); };
  const bool has_ways = sample.seconds_forth || sample.seconds_back;
  if (sample.clock_hz || sample.throttled || has_ways) {
    add(sample.clock_hz);
    add(sample.throttled);
  }
  if (has_ways) {
    add(sample.seconds_forth);
    add(sample.seconds_back);
  }
  return array;
}

Sample read_sample(const json& array) {
  const auto is_present = [&](std::size_t i) { return array.size() > i && !array[i].is_null(); };
  Sample sample;
  sample.seconds = array.at(0).get<double>();
  sample.launches = whole_number<std::int64_t>(array.at(1));
  if (is_present(2)) sample.clock_hz = array[2].get<double>();
  if (is_present(3)) sample.throttled = array[3].get<bool>();
  if (is_present(4)) sample.seconds_forth = array[4].get<double>();
  if (is_present(5)) sample.seconds_back = array[5].get<double>();
  return sample;
}

Result read_result(const json& object) {
  Result result;
  result.record = fields_from_json<Record>(object.at("record"));
  result.leave_worker = object.at("leave_worker").get<bool>();
  result.references.computed = whole_number<std::int64_t>(object.at("references_computed"));
  result.references.shared = whole_number<std::int64_t>(object.at("references_shared"));
  result.phases = fields_from_json<PhaseSeconds>(object.at("phases_s"));
  for (const Phase& phase : all_phases) {
    if (result.phases.*phase.seconds < 0) throw Malformed("malformed line: negative seconds");
  }
  if (const auto soak = object.find("soak"); soak != object.end()) {
    result.soak = fields_from_json<SoakWork>(*soak);
  }
  for (const json& sample : object.at("samples")) result.samples.push_back(read_sample(sample));
  return result;
}

ToWorker read_trial(const json& object) {
  PlannedTrial trial;
  for (const json& device : object.at("devices")) {
    const auto id = parse_device_id(device.get<std::string>());
    if (!id) throw Malformed("malformed line: no device is called " + device.dump());
    trial.lane.push_back(*id);
  }
  if (trial.lane.empty()) throw Malformed("malformed line: a trial needs a device");
  trial.timing = object.at("timing").get<std::string>();
  trial.attempt = whole_number<std::int64_t>(object.at("attempt"));
  trial.repeat = whole_number<std::int64_t>(object.at("repeat"));
  if (const auto yardstick = object.find("yardstick"); yardstick != object.end()) {
    trial.yardstick = {.case_id = yardstick->at("case").get<std::string>(),
                       .launches = yardstick->at("launches").get<double>()};
  }
  trial.soak_s = object.value("soak_s", 0.0);
  const auto case_id = object.at("case").get<std::string>();
  try {
    trial.test = parse_case_id(case_id);
  } catch (const UsageError& error) {
    return UnknownCase{error.what()};  // the parent is another build
  }
  return trial;
}

}  // namespace

std::string encode(const Hello& hello) {
  json object{{"type", "hello"},          {"protocol", hello.protocol},
              {"schema", hello.schema},   {"build_id", hello.build_id},
              {"devices", json::array()}, {"backends", json::array()},
              {"problems", json::array()}};
  for (const DeviceInfo& device : hello.devices) {
    object["devices"].push_back(fields_to_json(device));
  }
  for (const BackendTraits& backend : hello.backends) {
    object["backends"].push_back(fields_to_json(backend));
  }
  for (const BackendProblem& problem : hello.problems) {
    object["problems"].push_back({{"backend", problem.backend}, {"text", problem.text}});
  }
  if (!hello.kernels.ops.empty()) object["kernels"] = offers_to_json(hello.kernels);
  if (!hello.kernels_refused.empty()) object["kernels_refused"] = hello.kernels_refused;
  return to_line(object);
}

std::string encode(const Ready& /*ready*/) { return to_line({{"type", "ready"}}); }

std::string encode(const ReferenceAsked& asked) {
  return to_line({{"type", "reference_asked"}, {"is_open", asked.is_open}});
}

std::string encode(const UnknownCase& unknown) {
  return to_line({{"type", "unknown_case"}, {"reason", unknown.reason}});
}

std::string encode(const Conduct& conduct) {
  return to_line({{"type", "conduct"},
                  {"cap_s", conduct.cap_s},
                  {"references", conduct.references},
                  {"choices", conduct.choices}});
}
std::string encode(const Turn& /*turn*/) { return to_line({{"type", "turn"}}); }

std::string encode(const Result& result) {
  json object{{"type", "result"},
              {"record", fields_to_json(result.record)},
              {"leave_worker", result.leave_worker},
              {"references_computed", result.references.computed},
              {"references_shared", result.references.shared},
              {"phases_s", fields_to_json(result.phases)},
              {"samples", json::array()}};
  if (result.soak) object["soak"] = fields_to_json(*result.soak);
  for (const Sample& sample : result.samples) {
    object["samples"].push_back(sample_to_json(sample));
  }
  return to_line(object);
}

FromWorker decode_from_worker(std::string_view line) {
  return parse(line, [](const json& object) -> FromWorker {
    const auto type = object.at("type").get<std::string>();
    if (type == "hello") return read_hello(object);
    if (type == "ready") return Ready{};
    if (type == "reference_asked") return ReferenceAsked{object.at("is_open").get<bool>()};
    if (type == "result") return read_result(object);
    if (type == "unknown_case") return UnknownCase{object.at("reason").get<std::string>()};
    throw Malformed("malformed line: unknown type '" + type + "'");
  });
}

std::string encode(const PlannedTrial& trial) {
  json devices = json::array();
  for (const DeviceId& device : trial.lane) devices.push_back(to_text(device));
  json line{{"type", "trial"},        {"case", trial.test.id()},  {"devices", devices},
            {"timing", trial.timing}, {"attempt", trial.attempt}, {"repeat", trial.repeat}};
  if (const Yardstick& yardstick = trial.yardstick; !yardstick.case_id.empty()) {
    line["yardstick"] = {{"case", yardstick.case_id}, {"launches", yardstick.launches}};
  }
  if (trial.soak_s > 0) line["soak_s"] = trial.soak_s;
  return to_line(line);
}

ToWorker decode_to_worker(std::string_view line) {
  return parse(line, [](const json& object) -> ToWorker {
    const auto type = object.at("type").get<std::string>();
    if (type == "turn") return Turn{};
    if (type == "trial") return read_trial(object);
    if (type == "conduct") {
      return Conduct{.cap_s = object.at("cap_s").get<double>(),
                     .references = object.at("references").get<std::string>(),
                     .choices = object.at("choices").get<std::string>()};
    }
    throw Malformed("malformed line: unknown type '" + type + "'");
  });
}

}  // namespace assay::protocol
