#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace assay {

/// Every file that a run writes into its directory.
std::vector<std::string_view> run_file_names();

/// Returns whether a directory holds the start of a run and nothing else: files with these names
/// that begin as Assay begins them, perhaps cut, and no whole row in results.csv. A run that was
/// killed then lost nothing, and can be started anew.
bool is_run_start(const std::filesystem::path& directory);

/// Removes these files. Only for a directory that is_run_start, under its lock.
void remove_run_start(const std::filesystem::path& directory);

}  // namespace assay
