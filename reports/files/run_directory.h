#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/core/file_descriptor.h"

namespace assay {

/// Held by the run that writes into a directory, and released however it ends.
class RunDirectoryLock {
 public:
  /// Throws UsageError when another run holds it.
  explicit RunDirectoryLock(const std::filesystem::path& directory);

 private:
  FileDescriptor directory_;
};

/// Makes a directory for one run, its parents too. An empty one that stands is taken. Throws
/// UsageError where files stand in it, or where it cannot be made or written to.
void make_run_directory(const std::filesystem::path& directory);

/// A directory for a new run, locked: one that was made or found empty, or one that a run left
/// which was killed before its first result. What that run had written is then removed, and
/// `took_over` set. Throws UsageError as make_run_directory does, and where a run still writes to
/// it.
RunDirectoryLock claim_run_directory(const std::filesystem::path& directory, bool& took_over);

/// "20240131T235959Z-node7": UTC, and the host reduced to characters that any file system takes.
std::string run_directory_name(std::chrono::system_clock::time_point time, std::string_view host);

/// Makes `parent`/`run_directory_name(time, host)` and returns it. Where that name is taken, with
/// "-2", "-3" behind it: two runs that start within one second never share a directory.
std::filesystem::path make_default_run_directory(
    std::chrono::system_clock::time_point time, std::string_view host,
    const std::filesystem::path& parent = "assay-runs");

}  // namespace assay
