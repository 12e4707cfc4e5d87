#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>

#include "harness/records/record.h"
#include "reports/files/csv_file.h"

namespace assay {

/// One row of samples.csv: the key of the record, then one of its samples.
struct SampleRow {
  std::string case_id;
  std::string device;
  std::string timing;
  std::int64_t attempt = 1;
  std::int64_t repeat = 1;
  std::int64_t number = 0;  // from 1 on
  Sample sample;
};

template <class R, class Visitor>
void visit_fields(R& row,
                  Visitor&& visit) requires std::same_as<std::remove_const_t<R>, SampleRow> {
  visit("case_id", row.case_id);
  visit("device", row.device);
  visit("timing", row.timing);
  visit("attempt", row.attempt);
  visit("repeat", row.repeat);
  visit("sample", row.number);
  visit("seconds", row.sample.seconds);
  visit("launches", row.sample.launches);
  visit("clock_hz", row.sample.clock_hz);
  visit("throttled", row.sample.throttled);
  visit("seconds_forth", row.sample.seconds_forth);
  visit("seconds_back", row.sample.seconds_back);
}

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
