#pragma once

#include <string>

#include "reports/history/history.h"

namespace assay {

/// For the newest changes: the two runs between which each lies, all else that differs between
/// them (build, options, variables, drivers, threads), and a command that compares them. Reads
/// their devices.csv; one that cannot be read is said.
std::string history_causes(const History& history);

}  // namespace assay
