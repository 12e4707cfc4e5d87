#include "reports/compare/environment_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/records/fields_text.h"
#include "harness/records/replay.h"
#include "kernels/core/names.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 3> of_a_product{"name", "architecture", "compute_units"};
/// Momentary readings of a device, and values that differ by nature between paired devices.
constexpr std::array<std::string_view, 8> no_configuration{
    "device",        "backend", "memory_free_bytes", "clock_hz",
    "temperature_c", "power_w", "processes",         "link_now"};

std::string cell(const DeviceCells& device, std::string_view column) {
  const auto found = device.find(column);
  return found == device.end() ? "" : found->second;
}

std::string name_of(const DevicePair& pair) {
  return pair.base_id() == pair.cand_id() ? pair.base_id()
                                          : pair.base_id() + " / " + pair.cand_id();
}

template <class Columns>
void add_cells(std::vector<Difference>& differences, const DevicePair& pair,
               const Columns& columns) {
  for (const auto& column : columns) {
    const std::string base = cell(*pair.base, column);
    const std::string cand = cell(*pair.cand, column);
    if (base != cand) {
      differences.push_back({name_of(pair) + " " + std::string(column), base, cand});
    }
  }
}

const DeviceCells* only_one(const EndedRun& run, const std::string& backend) {
  const DeviceCells* found = nullptr;
  for (const DeviceCells& device : run.devices) {
    if (device.at("backend") != backend) continue;
    if (found != nullptr) return nullptr;
    found = &device;
  }
  return found;
}

const DeviceCells* counterpart(const DeviceCells& device, const EndedRun& base,
                               const EndedRun& cand, bool by_backend) {
  const std::string& backend = device.at("backend");
  const DeviceCells* const only = only_one(cand, backend);
  if (by_backend && only != nullptr && only_one(base, backend) == &device) return only;
  const auto found = std::ranges::find_if(cand.devices, [&](const DeviceCells& other) {
    return other.at("device") == device.at("device");
  });
  return found == cand.devices.end() ? nullptr : &*found;
}

std::vector<Difference> setting_differences(const Settings& base, const Settings& cand) {
  std::vector<Difference> differences;
  const auto value = [](const Settings& settings, const std::string& name) {
    const auto found = std::ranges::find(settings, name, &Settings::value_type::first);
    return found == settings.end() ? std::string() : found->second;
  };
  for (const auto& [name, of_base] : base) {
    if (const std::string of_cand = value(cand, name); of_base != of_cand) {
      differences.push_back({name, of_base, of_cand});
    }
  }
  for (const auto& [name, of_cand] : cand) {
    if (std::ranges::find(base, name, &Settings::value_type::first) == base.end()) {
      differences.push_back({name, "", of_cand});
    }
  }
  return differences;
}

/// Returns the options of the run, except those of its output.
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

/// "mine.so, crc32 7b02c19e, mine 1.0": a file of this name may change.
std::string kernels_text(const RunInfo& run) {
  if (run.kernels.path.empty()) return {};
  std::string text =
      fmt::format("{}, crc32 {}", run.kernels.path.filename().string(), run.kernels.crc32);
  return run.kernels_name.empty() ? text : text + ", " + run.kernels_name;
}

}  // namespace

Settings settings_of(const RunInfo& run) {
  const auto text = [](bool is) { return std::string(is ? "true" : "false"); };
  Settings settings{{"options", options_of(run.command_line)},
                    {"version", run.version},
                    {"git_revision", run.git_revision},
                    {"build_type", run.build_type},
                    {"compiler", run.compiler},
                    {"build_id", run.build_id},
                    {"host", run.host},
                    {"seed", std::to_string(run.seed)},
                    {"profile", run.profile},
                    {"check_only", text(run.check_only)},
                    {"allow_flaky", text(run.allow_flaky)},
                    {"kernels", kernels_text(run)}};
  settings.insert(settings.end(), run.environment.begin(), run.environment.end());
  return settings;
}

std::vector<DevicePair> pair_devices(const EndedRun& base, const EndedRun& cand, bool by_backend) {
  std::vector<DevicePair> pairs;
  for (const DeviceCells& device : base.devices) {
    const DeviceCells* const other = counterpart(device, base, cand, by_backend);
    if (other != nullptr) pairs.push_back({&device, other});
  }
  return pairs;
}

std::vector<Difference> hardware_differences(const std::vector<DevicePair>& pairs) {
  std::vector<Difference> differences;
  for (const DevicePair& pair : pairs) add_cells(differences, pair, of_a_product);
  return differences;
}

std::vector<Difference> environment_differences(const EndedRun& base, const EndedRun& cand,
                                                const std::vector<DevicePair>& pairs) {
  std::vector<Difference> differences =
      setting_differences(settings_of(base.run), settings_of(cand.run));
  std::vector<std::string> columns = field_names<DeviceInfo>();
  std::erase_if(columns, [](const std::string& column) {
    return std::ranges::find(no_configuration, column) != no_configuration.end();
  });
  for (const DeviceCells& device : base.devices) {
    const auto pair = std::ranges::find(pairs, &device, &DevicePair::base);
    if (pair != pairs.end()) {
      // A column that an older version did not write tells of no difference.
      std::vector<std::string> in_both = columns;
      std::erase_if(in_both, [&](const std::string& column) {
        return !pair->base->contains(column) || !pair->cand->contains(column);
      });
      add_cells(differences, *pair, in_both);
    } else {
      differences.push_back({device.at("device"), device.at("name"), ""});
    }
  }
  for (const DeviceCells& device : cand.devices) {
    if (std::ranges::find(pairs, &device, &DevicePair::cand) == pairs.end()) {
      differences.push_back({device.at("device"), "", device.at("name")});
    }
  }
  return differences;
}

}  // namespace assay
