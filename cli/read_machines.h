#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/machines/fleet.h"

namespace assay::cli {

/// Selects runs and rows for a comparison of machines.
struct MachinesInput {
  std::vector<std::filesystem::path> paths;  // run directories, or folders of them
  std::vector<std::string> suites;
  std::string filter;
  std::vector<std::string> cases;
  std::vector<std::string> devices;
  bool stand_ins = false;
  bool skip_damaged = false;
};

struct StoredFleet {
  Fleet fleet;
  std::vector<std::string> passed_over;  // unreadable runs, and why
  std::vector<std::string> runs;         // their directories, in the order of their numbers
};

/// Reads several runs at once, and keeps of each what a Fleet has. Throws UsageError, also if no
/// run could be read, and for names that no run has.
StoredFleet read_fleet(const MachinesInput& input);

}  // namespace assay::cli
