#include "reports/files/limits_csv.h"

#include <array>

#include "harness/records/fields_text.h"
#include "reports/files/csv_rows.h"

namespace assay {

LimitsCsv::LimitsCsv(const std::filesystem::path& path, Start start)
    : file_(path, field_names<Limit>(), start) {}

void LimitsCsv::add(const Limit& limit) {
  const std::array rows{field_cells(limit)};
  file_.write(rows);
}

std::vector<Limit> read_limits(const std::filesystem::path& path, bool ended) {
  return read_rows<Limit>(path, ended);
}

}  // namespace assay
