#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "harness/record.h"

namespace assay {

/// All files of a run directory, which must stand: results.csv, samples.csv, devices.csv, run.json,
/// junit.xml and summary.md. Throws std::system_error where one of them stands already.
std::vector<std::unique_ptr<Sink>> run_directory_sinks(const std::filesystem::path& directory);

/// The same for a run that is resumed: rows are appended to its files, samples of no record in
/// `earlier` are cut from the end of samples.csv, and `earlier`, the records that results.csv holds
/// in whole rows, count in junit.xml and summary.md.
std::vector<std::unique_ptr<Sink>> resumed_run_sinks(const std::filesystem::path& directory,
                                                     const std::vector<Record>& earlier);

}  // namespace assay
