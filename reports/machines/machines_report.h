#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reports/machines/fleet.h"
#include "reports/machines/outliers.h"
#include "reports/machines/speeds.h"
#include "reports/text/sections.h"

namespace assay {

/// Content of a report on machines.
struct MachinesFacts {
  const Fleet& fleet;
  std::span<const FleetColumn> columns;
  const FleetSpeeds& speeds;
  std::span<const ProductOutliers> outliers;
  OutlierRule rule;
  std::span<const std::string> passed_over;  // unreadable runs, and why
  std::span<const std::string> runs = {};    // directories, by the numbers of the fleet's runs
  std::size_t longest_list = 20;
};

/// "H100 is 1.83× (1.79 to 1.88) as fast as A100 over 199 cases; slower in 4", for each column but
/// the baseline, the fastest first.
std::vector<std::string> machines_headlines(const MachinesFacts& facts);

/// Sections: the machines, trials that were not right, speeds, ranking, outliers, bits that differ.
/// Lists are cut at `longest_list`. Sections without content are left out.
std::vector<Section> machines_sections(const MachinesFacts& facts);

/// Returns all counts in one line.
std::string machines_summary(const MachinesFacts& facts);

}  // namespace assay
