#include "reports/files/soak_csv.h"

#include <array>

#include "harness/records/fields_text.h"
#include "reports/files/csv_rows.h"

namespace assay {

SoakCsv::SoakCsv(const std::filesystem::path& path, Start start)
    : file_(path, field_names<SoakRow>(), start) {}

void SoakCsv::add(const SoakRow& row) {
  const std::array rows{field_cells(row)};
  file_.write(rows);
}

std::vector<SoakRow> read_soak(const std::filesystem::path& path) {
  return read_rows<SoakRow>(path, false);
}

}  // namespace assay
