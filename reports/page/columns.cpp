#include "reports/page/columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/device/device_id.h"
#include "reports/page/run_names.h"
#include "reports/page/stand_ins.h"

namespace assay::page {
namespace {

/// Returns the one device of a lane; empty if there are several.
std::string device_of(std::string_view lane) {
  const std::vector<std::string> members = split_lane(std::string(lane));
  return members.size() == 1 ? members.front() : "";
}

}  // namespace

Columns::Columns(std::span<const RunSource> runs) : runs_(names_of_runs(runs)) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<Column> columns;
    for (const DeviceCells& cells : runs[i].devices) {
      columns.push_back({.run = i, .device = cells.at("device"), .cells = &cells});
    }
    columns.push_back({.run = i});
    std::map<std::string, std::string> device_of_lane;
    for (const Record& trial : runs[i].trials) {
      const auto [lane, is_new] = device_of_lane.try_emplace(trial.device);
      if (!is_new) continue;
      lane->second = device_of(trial.device);
      auto at = std::ranges::find(columns, lane->second, &Column::device);
      if (at == columns.end()) {  // devices.csv does not name the device
        at = columns.insert(columns.end() - 1, Column{.run = i, .device = lane->second});
      }
      at->is_used = true;
      if (!trial.stand_in.empty()) at->stand_in = trial.stand_in;
    }
    const std::size_t first = all_.size();
    for (Column& column : columns) {
      if (!column.is_used) continue;
      const std::string device = column.is_together() ? "several together" : column.device;
      column.name = device + (runs.size() > 1 ? fmt::format(" of run {}", i + 1) : "");
      column.label = with_stand_in(device, column.stand_in);
      if (runs.size() > 1) column.label += " of " + runs_[i];
      const bool is_alone = std::ranges::count(columns, true, &Column::is_used) == 1;
      if (is_alone && runs.size() > 1 && runs_[i] != fmt::format("run {}", i + 1)) {
        column.label = with_stand_in(runs_[i], column.stand_in);
      }
      all_.push_back(std::move(column));
    }
    for (const auto& [lane, device] : device_of_lane) {
      const auto at = std::ranges::find(all_.begin() + static_cast<std::ptrdiff_t>(first),
                                        all_.end(), device, &Column::device);
      places_.emplace(std::pair(i, lane), static_cast<std::size_t>(at - all_.begin()));
    }
  }
}

std::size_t Columns::of(std::size_t run, const std::string& lane) const {
  return places_.at({run, lane});
}

}  // namespace assay::page
