#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace assay {

/// Every file that a run writes into its directory.
std::vector<std::string_view> run_file_names();

/// Whether a directory holds something, and nothing but what a run writes before its first result:
/// files by these names that begin as Assay begins them, or are cut off before that, and no whole
/// row in results.csv. A run that was killed then has lost nothing, and can be started anew.
bool is_run_start(const std::filesystem::path& directory);

/// Removes these files. Only for a directory that is_run_start, under its lock.
void remove_run_start(const std::filesystem::path& directory);

}  // namespace assay
