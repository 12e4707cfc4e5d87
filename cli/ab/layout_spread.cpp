#include "cli/ab/layout_spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/records/json_text.h"
#include "kernels/core/status.h"
#include "reports/files/atomic_file.h"
#include "reports/files/csv_file.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Empty where this user has no place for it.
fs::path state_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state != '\0') return fs::path(state) / "assay/layout-spread.json";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return fs::path(home) / ".local/state/assay/layout-spread.json";
}

/// What decides about layout: the machine and its processors, not the order of its devices.
std::string key(const std::string& host, std::span<const DeviceInfo> devices) {
  std::set<std::string> names;
  for (const DeviceInfo& device : devices) names.insert(device.name);
  std::string text = host;
  for (const std::string& name : names) text += " | " + name;
  return text;
}

/// A file that cannot be read is as good as none: what is recorded only ever widens a margin.
json read_state(const fs::path& path) {
  try {
    json state = parse_json(read_text(path, max_json_bytes));
    if (state.is_object()) return state;
  } catch (const UsageError&) {  // NOLINT(bugprone-empty-catch): see above
  }
  return json::object();
}

}  // namespace

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

std::optional<LayoutSpread> recorded_spread(const std::string& host,
                                            std::span<const DeviceInfo> devices) {
  const fs::path path = state_file();
  if (path.empty() || !fs::exists(path)) return std::nullopt;
  const json state = read_state(path);
  const auto found = state.find(key(host, devices));
  if (found == state.end() || !found->is_object()) return std::nullopt;
  const json spread = found->value("spread", json());
  const json recorded_at = found->value("recorded_at", json());
  if (!spread.is_number() || !(spread.get<double>() >= 0) || !recorded_at.is_string()) {
    return std::nullopt;
  }
  return LayoutSpread{spread.get<double>(), recorded_at.get<std::string>()};
}

std::string record_spread(const std::string& host, std::span<const DeviceInfo> devices,
                          const LayoutSpread& spread) {
  const fs::path path = state_file();
  if (path.empty()) return "it is not recorded: neither XDG_STATE_HOME nor HOME is set";
  const auto earlier = recorded_spread(host, devices);
  if (earlier && earlier->spread >= spread.spread) {
    return fmt::format("{:.2g}% of {} stays recorded in {}", earlier->spread * 100,
                       earlier->recorded_at, path.string());
  }
  try {
    fs::create_directories(path.parent_path());
    json state = read_state(path);
    state[key(host, devices)] = {{"spread", spread.spread}, {"recorded_at", spread.recorded_at}};
    write_atomically(path, state.dump(2) + "\n");
  } catch (const std::exception& error) {
    return fmt::format("it is not recorded: {}", error.what());
  }
  return fmt::format("recorded in {}", path.string());
}

}  // namespace assay::cli
