#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/machines/fleet.h"
#include "reports/machines/machines_report.h"
#include "reports/text/sections.h"

namespace assay {

/// A key figure of a column: that of the median device.
struct ColumnMeasure {
  const FleetMeasure* median = nullptr;
  std::string host;
  std::size_t measures = 0;  // of devices and runs, among which it is the median
};

/// Returns the lower of the two in the middle of an even number, so that it is one device's.
/// Nothing if no run of the column has the figure.
std::optional<ColumnMeasure> column_measure(const Fleet& fleet, const FleetColumn& column,
                                            std::size_t figure);

/// A row for each key figure, a column for each machine, and the case of the first that has it.
/// Empty if no machine has any.
Section figures_section(const MachinesFacts& facts);

/// One row for each figure and machine; docs/machines.md documents each column.
std::vector<std::string> machines_figures_columns();
std::string machines_figures_csv(const MachinesFacts& facts);

}  // namespace assay
