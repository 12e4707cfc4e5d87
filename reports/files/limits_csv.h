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

/// The rows of a limits.csv; none where there is no such file. Of a run that did not end, the last
/// row may be torn, and is passed over. Throws UsageError where it is none.
std::vector<Limit> read_limits(const std::filesystem::path& path, bool ended = true);

}  // namespace assay
