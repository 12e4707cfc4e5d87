#include "reports/files/paired_csv.h"

#include <array>

#include "harness/records/csv.h"
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

void write_paired_cases(const std::filesystem::path& path, std::span<const PairedCase> cases) {
  std::string text = csv_line(field_names<PairedCase>()) + "\n";
  for (const PairedCase& one : cases) text += csv_line(field_cells(one)) + "\n";
  write_atomically(path, text);
}

std::vector<PairedCase> read_paired_cases(const std::filesystem::path& path) {
  return read_rows<PairedCase>(path);
}

}  // namespace assay
