#include "reports/files/plan_csv.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"
#include "harness/records/input_file.h"
#include "harness/records/record.h"
#include "kernels/core/status.h"
#include "reports/files/atomic_file.h"

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

namespace {

PlanRow plan_row(const CsvRow& csv) {
  if (csv.fields.size() != plan_columns().size()) throw UsageError("not a row of a plan");
  PlanRow row{.case_id = csv.fields[0],
              .device = csv.fields[1],
              .timing = csv.fields[2],
              .skip_reason = csv.fields[4],
              .line = csv.line};
  if (!row.timing.empty() && row.timing != batch_timing && row.timing != cold_timing) {
    throw UsageError(fmt::format("unknown timing '{}'", row.timing));
  }
  from_cell(csv.fields[3], row.repeat);
  if (row.repeat < 1) throw UsageError(fmt::format("unknown repeat {}", row.repeat));
  return row;
}

}  // namespace

std::vector<PlanRow> read_plan(const std::filesystem::path& path) {
  InputFile file(path);
  const std::vector<CsvRow> rows = read_csv(file, path.string());
  if (rows.empty() || rows.front().fields != plan_columns()) {
    throw UsageError(fmt::format("{}:1:1: not the columns of a plan", path.string()));
  }
  std::vector<PlanRow> plan;
  std::set<std::tuple<std::string, std::string, std::string, std::int64_t>> seen;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    try {
      const PlanRow& row = plan.emplace_back(plan_row(rows[i]));
      if (!seen.emplace(row.case_id, row.device, row.timing, row.repeat).second) {
        throw UsageError(fmt::format("a second row of {} on {}", row.case_id, row.device));
      }
    } catch (const UsageError& wrong) {
      throw UsageError(fmt::format("{}:{}: {}", path.string(), rows[i].line, wrong.what()));
    }
  }
  return plan;
}

}  // namespace assay
