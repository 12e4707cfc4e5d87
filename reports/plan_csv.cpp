#include "reports/plan_csv.h"

#include <fmt/format.h>

#include <charconv>

#include "harness/csv.h"
#include "harness/fields_text.h"
#include "harness/input_file.h"
#include "kernels/base/status.h"
#include "reports/atomic_file.h"

namespace assay {

std::vector<std::string> plan_columns() {
  return {"case_id", "device", "timing", "repeat", "skip_reason"};
}

void write_plan(const std::filesystem::path& path, const std::vector<PlanRow>& plan) {
  std::string text = csv_line(plan_columns()) + "\n";
  for (const PlanRow& row : plan) {
    const std::vector<std::string> cells{to_cell(row.case_id), to_cell(row.device),
                                         to_cell(row.timing), to_cell(row.repeat),
                                         to_cell(row.skip_reason)};
    text += csv_line(cells) + "\n";
  }
  write_atomically(path, text);
}

std::vector<PlanRow> read_plan(const std::filesystem::path& path) {
  InputFile file(path);
  const std::vector<CsvRow> rows = read_csv(file, path.string());
  if (rows.empty() || rows.front().fields != plan_columns()) {
    throw UsageError(fmt::format("{}:1:1: not the columns of a plan", path.string()));
  }
  std::vector<PlanRow> plan;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& fields = rows[i].fields;
    PlanRow row;
    const bool has_repeat =
        fields.size() == plan_columns().size() &&
        std::from_chars(fields[3].data(), fields[3].data() + fields[3].size(), row.repeat).ec ==
            std::errc();
    if (!has_repeat) {
      throw UsageError(fmt::format("{}:{}: not a row of a plan", path.string(), rows[i].line));
    }
    row.case_id = fields[0];
    row.device = fields[1];
    row.timing = fields[2];
    row.skip_reason = fields[4];
    plan.push_back(std::move(row));
  }
  return plan;
}

}  // namespace assay
