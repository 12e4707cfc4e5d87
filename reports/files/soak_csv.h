#pragma once

#include <filesystem>
#include <vector>

#include "harness/records/soak_row.h"
#include "reports/files/csv_file.h"

namespace assay {

/// Writes soak.csv: a row as each interval ends.
class SoakCsv {
 public:
  SoakCsv(const std::filesystem::path& path, Start start);
  void add(const SoakRow& row);

 private:
  CsvFile file_;
};

/// Reads the whole rows; the last one may be torn. Throws UsageError if it is no soak.csv.
std::vector<SoakRow> read_soak(const std::filesystem::path& path);

}  // namespace assay
