#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "harness/records/record.h"
#include "reports/files/csv_file.h"
#include "reports/outcomes.h"

namespace assay {

/// All files of a run directory, which must stand: results.csv, samples.csv, devices.csv, run.json,
/// junit.xml and summary.md. They show what `outcomes` holds, which must hear of each result before
/// them. Throws std::system_error where one of them stands already, unless the run is resumed: then
/// rows are appended, and samples of no record in `earlier`, which are the whole rows of
/// results.csv, are cut from the end of samples.csv. They are to be told the end in reverse order:
/// run.json after the reports, since it says how the program ends.
std::vector<std::unique_ptr<Sink>> run_directory_sinks(const std::filesystem::path& directory,
                                                       const Outcomes& outcomes, Start start,
                                                       const std::vector<Record>& earlier = {});

}  // namespace assay
