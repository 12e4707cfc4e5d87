#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay {

/// Facts about a job that its launcher puts into each process's environment.
struct LaunchInfo {
  std::string launcher;  // "mpirun", "srun"
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the processes of this host
  /// Hash of the command line that started this rank.
  std::int64_t command_hash = 0;
};

/// Returns nothing if no launcher started this process, or started it alone. Throws UsageError for
/// impossible numbers.
std::optional<LaunchInfo> launch_info();

}  // namespace assay
