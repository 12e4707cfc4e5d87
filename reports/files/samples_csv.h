#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "harness/records/record.h"
#include "reports/files/csv_file.h"

namespace assay {

/// The columns of samples.csv: the key of the record, then the fields of Sample.
std::vector<std::string> samples_columns();

/// samples.csv: every timed sample of every result.
class SamplesCsv : public Sink {
 public:
  /// Resuming keeps the samples of the `earlier` records: see cut_orphaned_samples.
  explicit SamplesCsv(const std::filesystem::path& path, Start start = Start::fresh,
                      std::span<const Record> earlier = {});
  void result(const Result& result) override;

 private:
  CsvFile file_;
};

/// Cuts the rows at the end that belong to none of the records: samples are written before the row
/// of their result, and a run that was killed in between takes them again. The file must end with a
/// whole row (cut_torn_row). Does nothing if there is none. Returns how many rows were cut.
std::size_t cut_orphaned_samples(const std::filesystem::path& path,
                                 std::span<const Record> records);

}  // namespace assay
