#pragma once

#include <filesystem>
#include <vector>

#include "harness/records/run_info.h"

namespace assay {

/// The Python files directly in a folder, by name.
std::vector<std::filesystem::path> python_files_of(const std::filesystem::path& folder);

/// A file, or a folder of Python files, as a run records it; empty for an empty path. Throws
/// UsageError if it cannot be read.
GivenFile given_file(const std::filesystem::path& path);

}  // namespace assay
