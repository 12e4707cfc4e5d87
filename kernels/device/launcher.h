#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "kernels/device/launch_info.h"
#include "kernels/device/process_group.h"

// The module that knows the launcher's library, loaded where a launcher started this process.
namespace assay {

/// What its one C entry point returns. As of other modules, of this build alone.
struct LauncherEntry {
  const char* build_id;
  ProcessGroup* (*join)();  // the caller owns the result
};

/// `extern "C" const assay::LauncherEntry* assay_launcher()` of this file.
inline constexpr const char* launcher_entry_name = "assay_launcher";
inline constexpr const char* launcher_file = "launcher_mpi.so";
using LauncherEntryPoint = const LauncherEntry* (*)();

/// Joins the job by the first module found in these folders, and checks that the job is the one
/// that the environment tells of. Throws std::runtime_error that says what is missing.
std::unique_ptr<ProcessGroup> join_job(const LaunchInfo& info,
                                       std::span<const std::filesystem::path> folders);

}  // namespace assay
