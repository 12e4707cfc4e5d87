#include "reports/samples_csv.h"

#include "harness/fields_text.h"

namespace assay {

std::vector<std::string> samples_columns() {
  return {"case_id", "device",  "timing",   "attempt",  "repeat",
          "sample",  "seconds", "launches", "clock_hz", "throttled"};
}

SamplesCsv::SamplesCsv(const std::filesystem::path& path, Start start)
    : file_(path, samples_columns(), start) {}

void SamplesCsv::result(const Result& result) {
  const Record& record = result.record;
  std::vector<std::vector<std::string>> rows;
  rows.reserve(result.samples.size());
  for (const Sample& sample : result.samples) {
    rows.push_back({to_cell(record.case_id), to_cell(record.device), to_cell(record.timing),
                    to_cell(record.attempt), to_cell(record.repeat), to_cell(rows.size() + 1),
                    to_cell(sample.seconds), to_cell(sample.launches), to_cell(sample.clock_hz),
                    to_cell(sample.throttled)});
  }
  file_.write(rows);
}

}  // namespace assay
