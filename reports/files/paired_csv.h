#pragma once

#include <filesystem>
#include <vector>

#include "harness/records/paired.h"
#include "reports/files/csv_file.h"

namespace assay {

/// Writes rounds.csv of a comparison: a row as each round of each case ends.
class RoundsCsv {
 public:
  explicit RoundsCsv(const std::filesystem::path& path);
  void add(const PairedRound& round);

 private:
  CsvFile file_;
};

/// Writes ab.csv, a row for each case. Throws std::system_error that names the file.
void write_paired_cases(const std::filesystem::path& path, const std::vector<PairedCase>& cases);

/// None if the file is missing: the comparison did not end.
std::vector<PairedCase> read_paired_cases(const std::filesystem::path& path);

}  // namespace assay
