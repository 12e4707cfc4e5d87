#include "reports/files/results_csv.h"

#include <string>
#include <vector>

#include "harness/records/fields_text.h"

namespace assay {

ResultsCsv::ResultsCsv(const std::filesystem::path& path, Start start)
    : file_(path, field_names<Record>(), start) {}

void ResultsCsv::result(const Result& result) {
  const std::vector<std::vector<std::string>> rows{field_cells(result.record)};
  file_.write(rows);
}

}  // namespace assay
