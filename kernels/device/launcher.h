#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "kernels/device/launch_info.h"
#include "kernels/device/process_group.h"

// Loads the module for the launcher's library, if a launcher started this process.
namespace assay {

/// Result of the module's one C entry point. Valid only within one build, as for other modules.
struct LauncherEntry {
  const char* build_id;
  ProcessGroup* (*join)();  // the caller owns the result
};

/// Name of the entry point: `extern "C" const assay::LauncherEntry* assay_launcher()`.
inline constexpr const char* launcher_entry_name = "assay_launcher";
inline constexpr const char* launcher_file = "launcher_mpi.so";
using LauncherEntryPoint = const LauncherEntry* (*)();

/// Joins the job through the first module found in these folders. Checks that the job matches the
/// environment. Throws std::runtime_error that says what is missing.
std::unique_ptr<ProcessGroup> join_job(const LaunchInfo& info,
                                       std::span<const std::filesystem::path> folders);

}  // namespace assay
