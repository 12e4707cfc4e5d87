#pragma once

#include <filesystem>

#include "harness/records/record.h"
#include "reports/files/table_file.h"

namespace assay {

/// results.csv: one row for each result, as it comes.
class ResultsCsv : public Sink {
 public:
  explicit ResultsCsv(const std::filesystem::path& path, Start start = Start::fresh)
      : file_(path, start) {}
  void result(const Result& result) override { file_.add(result.record); }

 private:
  TableFile<Record> file_;
};

}  // namespace assay
