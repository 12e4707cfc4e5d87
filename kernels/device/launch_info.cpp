#include "kernels/device/launch_info.h"

#include <array>
#include <charconv>
#include <cstdlib>

#include "kernels/core/status.h"

namespace assay {
namespace {

/// Environment variables in which a launcher gives a process its numbers.
struct Names {
  const char* launcher;
  const char* size;
  const char* rank;
  const char* local_rank;
};
constexpr std::array launchers{
    Names{"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"},
    Names{"mpirun", "PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID"},
    // Variables of a job step: a batch script has its own numbers, and is a single process.
    Names{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID"},
};

std::optional<int> number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const std::string_view digits(text);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || value < 0) {
    throw UsageError(std::string(name) + "='" + text + "': a launcher's number was expected");
  }
  return value;
}

}  // namespace

std::optional<LaunchInfo> launch_info() {
  for (const Names& names : launchers) {
    const auto size = number(names.size);
    const auto rank = number(names.rank);
    if (!size || !rank) continue;
    if (*size < 2) return std::nullopt;
    if (*rank >= *size) {
      throw UsageError(std::string(names.rank) + "=" + std::to_string(*rank) + " of " + names.size +
                       "=" + std::to_string(*size));
    }
    const auto local = number(names.local_rank);
    return LaunchInfo{names.launcher, *rank, *size,
                      local ? *local : number("SLURM_LOCALID").value_or(0)};
  }
  return std::nullopt;
}

}  // namespace assay
