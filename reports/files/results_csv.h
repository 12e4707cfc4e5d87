#pragma once

#include <filesystem>

#include "harness/records/record.h"
#include "reports/files/csv_file.h"

namespace assay {

/// results.csv: one row for each result, as it comes.
class ResultsCsv : public Sink {
 public:
  explicit ResultsCsv(const std::filesystem::path& path, Start start = Start::fresh);
  void result(const Result& result) override;

 private:
  CsvFile file_;
};

}  // namespace assay
