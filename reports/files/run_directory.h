#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/core/file_descriptor.h"

namespace assay {

/// Lock of the run that writes into a directory, released however the run ends.
class RunDirectoryLock {
 public:
  /// Throws UsageError if another run holds it.
  explicit RunDirectoryLock(const std::filesystem::path& directory);

 private:
  FileDescriptor directory_;
};

/// A locked directory for one run, made with its parents, or an existing empty one. Throws
/// UsageError if it holds files, or cannot be made or written to.
RunDirectoryLock claim_empty_directory(const std::filesystem::path& directory);

/// A locked directory for a new run: a new one, an empty one, or that of a run that was killed
/// before its first result. The files of that run are then removed, and `took_over` is set. Throws
/// UsageError as claim_empty_directory does, and if a run still writes to it.
RunDirectoryLock claim_run_directory(const std::filesystem::path& directory, bool& took_over);

/// Returns "20240131T235959Z-node7": UTC, and the host in characters that any file system takes.
std::string run_directory_name(std::chrono::system_clock::time_point time, std::string_view host);

/// Makes `parent`/`run_directory_name(time, host)` and returns it. Appends "-2", "-3" if the name
/// is taken: two runs that start within one second never share a directory.
std::filesystem::path make_default_run_directory(
    std::chrono::system_clock::time_point time, std::string_view host,
    const std::filesystem::path& parent = "assay-runs");

}  // namespace assay
