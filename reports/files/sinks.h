#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "harness/records/record.h"
#include "reports/files/csv_file.h"
#include "reports/text/outcomes.h"

namespace assay {

/// Opens all files of an existing run directory: results.csv, samples.csv, devices.csv, run.json,
/// junit.xml, metrics.prom and summary.md. They show the content of `outcomes`, which must get each
/// result before them. Throws std::system_error if one of them exists, unless the run is resumed.
/// Then rows are appended, and samples of no record in `earlier` (the whole rows of results.csv)
/// are cut from the end of samples.csv. End them in reverse order: run.json comes last, as it has
/// the exit code.
std::vector<std::unique_ptr<Sink>> run_directory_sinks(const std::filesystem::path& directory,
                                                       const Outcomes& outcomes, Start start,
                                                       const std::vector<Record>& earlier = {});

}  // namespace assay
