#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay {

/// What a launcher tells a process about its job, in the environment.
struct LaunchInfo {
  std::string launcher;  // "mpirun", "srun"
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the processes of this host
  /// Of the command line that the rank was started by.
  std::int64_t command_hash = 0;
};

/// Nothing where no launcher started this process, or started it alone. Throws UsageError for
/// numbers that cannot be.
std::optional<LaunchInfo> launch_info();

}  // namespace assay
