#include "reports/page/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/base/device_id.h"

namespace assay::page {
namespace {

/// The one device of a lane; empty where they are several.
std::string device_of(std::string_view lane) {
  const std::vector<std::string> members = split_lane(std::string(lane));
  return members.size() == 1 ? members.front() : "";
}

}  // namespace

Columns::Columns(std::span<const RunSource> runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<Column> columns;
    for (const DeviceCells& cells : runs[i].devices) {
      columns.push_back({.run = i, .device = cells.at("device"), .cells = &cells});
    }
    columns.push_back({.run = i});
    // Rows may name a device that devices.csv does not.
    std::vector<bool> used(columns.size());
    for (const Record& trial : runs[i].trials) {
      const std::string device = device_of(trial.device);
      auto at = std::ranges::find(columns, device, &Column::device);
      if (at == columns.end()) {
        at = columns.insert(columns.end() - 1, Column{.run = i, .device = device});
        used.insert(used.end() - 1, true);
      }
      used[static_cast<std::size_t>(at - columns.begin())] = true;
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!used[c]) continue;
      Column& column = columns[c];
      column.is_simulated =
          column.device.starts_with("sim") || (column.is_together() && !runs[i].devices.empty() &&
                                               runs[i].devices.back().at("backend") == "sim");
      column.label = column.is_together() ? "several together" : column.device;
      if (column.is_simulated) column.label += " (simulated)";
      if (runs.size() > 1) column.label += fmt::format(" of run {}", i + 1);
      all_.push_back(std::move(column));
    }
  }
}

std::size_t Columns::of(std::size_t run, std::string_view lane) const {
  const std::string device = device_of(lane);
  const auto found = std::ranges::find_if(
      all_, [&](const Column& column) { return column.run == run && column.device == device; });
  if (found == all_.end()) throw std::logic_error("a trial without a column");
  return static_cast<std::size_t>(found - all_.begin());
}

}  // namespace assay::page
