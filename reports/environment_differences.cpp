#include "reports/environment_differences.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/fields_text.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 3> of_a_product{"name", "architecture", "compute_units"};
/// What a device reads now, and what differs between the pairs of `pair_devices` by its nature.
constexpr std::array<std::string_view, 7> no_configuration{
    "device", "backend", "memory_free_bytes", "clock_hz", "temperature_c", "power_w", "processes"};

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
    if (base != cand)
      differences.push_back({name_of(pair) + " " + std::string(column), base, cand});
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

std::vector<Difference> setting_differences(const EndedRun& base, const EndedRun& cand) {
  std::vector<Difference> differences;
  const auto value = [](const EndedRun& run, const std::string& name) {
    const auto found =
        std::ranges::find(run.settings, name, &decltype(run.settings)::value_type::first);
    return found == run.settings.end() ? std::string() : found->second;
  };
  for (const auto& [name, of_base] : base.settings) {
    if (const std::string of_cand = value(cand, name); of_base != of_cand) {
      differences.push_back({name, of_base, of_cand});
    }
  }
  for (const auto& [name, of_cand] : cand.settings) {
    const bool is_new = std::ranges::none_of(
        base.settings, [&name = name](const auto& setting) { return setting.first == name; });
    if (is_new) differences.push_back({name, "", of_cand});
  }
  return differences;
}

}  // namespace

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
  std::vector<Difference> differences = setting_differences(base, cand);
  std::vector<std::string> columns = field_names<DeviceInfo>();
  std::erase_if(columns, [](const std::string& column) {
    return std::ranges::find(no_configuration, column) != no_configuration.end();
  });
  for (const DeviceCells& device : base.devices) {
    const auto pair = std::ranges::find(pairs, &device, &DevicePair::base);
    if (pair != pairs.end()) {
      add_cells(differences, *pair, columns);
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
