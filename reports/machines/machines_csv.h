#pragma once

#include <string>
#include <vector>

#include "reports/machines/machines_report.h"

// The files of `assay machines`; docs/machines.md documents each column.
namespace assay {

/// One row for each machine (a column of the report), over all cases and in each suite and dtype.
std::vector<std::string> machines_columns();
std::string machines_csv(const MachinesFacts& facts);

/// One row for each test of a device in a suite and dtype, the surest outliers first.
std::vector<std::string> machines_outliers_columns();
std::string machines_outliers_csv(const MachinesFacts& facts);

/// One row for each output of a case whose bits differ.
std::vector<std::string> machines_bits_columns();
std::string machines_bits_csv(const MachinesFacts& facts);

}  // namespace assay
