#pragma once

#include <filesystem>
#include <vector>

#include "harness/records/limit.h"
#include "reports/files/csv_file.h"

namespace assay {

/// Writes limits.csv: a row as each limit is measured.
class LimitsCsv {
 public:
  LimitsCsv(const std::filesystem::path& path, Start start);
  void add(const Limit& limit);

 private:
  CsvFile file_;
};

/// Reads the rows of a limits.csv; none if there is no such file. The last row of a run that did
/// not end may be torn, and is skipped. Throws UsageError if it is no limits.csv.
std::vector<Limit> read_limits(const std::filesystem::path& path, bool ended = true);

}  // namespace assay
