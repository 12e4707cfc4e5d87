#include "session/ab/layout_spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/records/json_text.h"
#include "kernels/core/status.h"
#include "reports/files/csv_file.h"

namespace assay {

using nlohmann::json;

std::optional<double> spread_of(std::span<const PairedCase> cases) {
  std::optional<double> largest;
  for (const PairedCase& one : cases) {
    if (!one.ratio) continue;
    const bool is_shown =
        one.verdict == PairedVerdict::regressed || one.verdict == PairedVerdict::improved;
    const double difference = is_shown ? std::expm1(std::abs(std::log(*one.ratio))) : 0;
    largest = std::max(largest.value_or(0), difference);
  }
  return largest;
}

std::string machine_of(const std::string& host, std::span<const DeviceInfo> devices) {
  std::set<std::string> names;
  for (const DeviceInfo& device : devices) names.insert(device.name);
  std::string text = host;
  for (const std::string& name : names) text += " | " + name;
  return text;
}

LayoutSpread read_spread(const std::filesystem::path& path, const std::string& machine) {
  const std::string text = read_text(path, max_json_bytes);
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("--spread {}: {}", path.string(), why));
  };
  json state;
  try {
    state = parse_json(text);
  } catch (const UsageError& error) {
    refuse(error.what());
  }
  const auto field = [&](const char* name) {
    return state.is_object() ? state.value(name, json()) : json();
  };
  const json spread = field("layout_spread");
  const json of = field("machine");
  const json recorded_at = field("recorded_at");
  if (!spread.is_number() || !(spread.get<double>() >= 0) || !of.is_string() ||
      !recorded_at.is_string()) {
    refuse("not a file that 'assay ab --aa --spread' wrote");
  }
  if (of != machine) {
    refuse(
        fmt::format("of another machine, '{}'; this one is '{}'", of.get<std::string>(), machine));
  }
  return {spread.get<double>(), recorded_at.get<std::string>()};
}

std::string spread_text(const LayoutSpread& spread, const std::string& machine) {
  const json state{
      {"layout_spread", spread.spread}, {"machine", machine}, {"recorded_at", spread.recorded_at}};
  return state.dump(2) + "\n";
}

}  // namespace assay
