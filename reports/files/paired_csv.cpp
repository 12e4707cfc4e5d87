#include "reports/files/paired_csv.h"

#include <array>

#include "harness/records/fields_text.h"
#include "reports/files/atomic_file.h"
#include "reports/files/csv_rows.h"

namespace assay {

RoundsCsv::RoundsCsv(const std::filesystem::path& path)
    : file_(path, field_names<PairedRound>(), Start::fresh) {}

void RoundsCsv::add(const PairedRound& round) {
  const std::array rows{field_cells(round)};
  file_.write(rows);
}

void write_paired_cases(const std::filesystem::path& path, const std::vector<PairedCase>& cases) {
  write_atomically(path, rows_text(cases));
}

std::vector<PairedCase> read_paired_cases(const std::filesystem::path& path) {
  return read_rows<PairedCase>(path);
}

}  // namespace assay
