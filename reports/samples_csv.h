#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/record.h"
#include "reports/csv_file.h"

namespace assay {

/// The columns of samples.csv: the key of the record, then the fields of Sample.
std::vector<std::string> samples_columns();

/// samples.csv: every timed sample of every result.
class SamplesCsv : public Sink {
 public:
  explicit SamplesCsv(const std::filesystem::path& path, Start start = Start::fresh);
  void result(const Result& result) override;

 private:
  CsvFile file_;
};

}  // namespace assay
