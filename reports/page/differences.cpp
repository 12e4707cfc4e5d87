#include "reports/page/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/records/fields_text.h"
#include "reports/compare/environment_differences.h"
#include "reports/page/stand_ins.h"
#include "reports/text/column_unit.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

/// Shows a cell of devices.csv to people.
std::string for_people(std::string_view unit, const std::string& cell) {
  if (cell.empty() || unit.empty()) return cell;
  double value = 0;
  try {
    from_cell(cell, value);
  } catch (const UsageError&) {
    return cell;
  }
  return unit == "°C" ? cell + " °C" : si(value, unit);
}

/// Shows a name to people: "memory_total" is "memory total".
std::string title_of(std::string_view column) {
  std::string title(column);
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string value_in(const Settings& settings, const std::string& name) {
  const auto found = std::ranges::find(settings, name, &Settings::value_type::first);
  return found == settings.end() ? "" : found->second;
}

void add_property(Properties& properties, const std::string& name,
                  const std::vector<std::string>& values, bool may_differ,
                  std::string_view unit = {}) {
  if (std::ranges::all_of(values, &std::string::empty)) return;
  Property property{.name = name};
  property.differs =
      !may_differ && std::ranges::any_of(values, [&](const auto& v) { return v != values[0]; });
  for (const std::string& value : values) property.values.push_back(for_people(unit, value));
  properties.rows.push_back(std::move(property));
}

}  // namespace

void Mean::add(double ratio) {
  least = count == 0 ? ratio : std::min(least, ratio);
  most = count == 0 ? ratio : std::max(most, ratio);
  logs += std::log(ratio);
  ++count;
}

Means means_of(const Content& content, const Times& times) {
  Means means;
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    if (c == content.base) continue;
    for (const auto& [key, timed] : times.of(c)) {
      const auto ratio = times.ratio(c, *timed.trial, content.base);
      if (!ratio) continue;
      for (const std::string& suite : {timed.trial->suite, all_suites}) {
        auto& row = means.try_emplace(suite, content.columns.size()).first->second;
        row[c].add(ratio->value);
      }
    }
  }
  return means;
}

Properties devices_of(const Content& content) {
  const std::vector<RunSource>& runs = content.input.runs;
  Properties properties;
  std::vector<const DeviceCells*> devices;
  std::vector<std::string> names = field_names<DeviceInfo>();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const DeviceCells& cells : runs[r].devices) {
      devices.push_back(&cells);
      properties.columns.push_back(with_stand_in(cells.at("device"), stand_in_of(cells)) +
                                   (runs.size() > 1 ? fmt::format(" of run {}", r + 1) : ""));
      for (const auto& [name, value] : cells) {  // columns of later versions too
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
  }
  // Momentary readings, and values that tell two devices of one product apart.
  constexpr std::array<std::string_view, 7> momentary{
      "memory_free_bytes", "clock_hz", "temperature_c", "power_w",
      "processes",         "uuid",     "pci_bus_id"};
  for (const std::string& name : names) {
    if (name == "device") continue;
    std::vector<std::string> values;
    for (const DeviceCells* cells : devices) {
      const auto found = cells->find(name);
      values.push_back(found == cells->end() ? "" : found->second);
    }
    const UnitColumn column = split_unit(name);
    add_property(properties, title_of(column.name), values,
                 std::ranges::find(momentary, name) != momentary.end(), column.unit);
  }
  return properties;
}

Properties settings_of_runs(const Content& content) {
  Properties properties;
  std::vector<Settings> all;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < content.input.runs.size(); ++i) {
    properties.columns.push_back(fmt::format("Run {}", i + 1));
    all.push_back(settings_of(content.input.runs[i].run));
    for (const auto& [name, value] : all.back()) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    std::vector<std::string> values;
    for (const Settings& settings : all) values.push_back(value_in(settings, name));
    add_property(properties, name, values, false);
  }
  return properties;
}

}  // namespace assay::page
