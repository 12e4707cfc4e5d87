#include "reports/files/plan_csv.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "harness/records/input_file.h"
#include "harness/records/record.h"
#include "kernels/core/status.h"
#include "reports/files/atomic_file.h"
#include "reports/files/csv_rows.h"

namespace assay {

void write_plan(const std::filesystem::path& path, const std::vector<PlanRow>& plan) {
  write_atomically(path, rows_text(plan));
}

namespace {

PlanRow plan_row(const CsvRow& csv) {
  if (csv.fields.size() != field_names<PlanRow>().size()) throw UsageError("not a row of a plan");
  PlanRow row{.line = csv.line};
  auto cell = csv.fields.begin();
  visit_fields(row, [&](std::string_view, auto& field) { from_cell(*cell++, field); });
  if (!row.timing.empty() && row.timing != batch_timing && row.timing != cold_timing) {
    throw UsageError(fmt::format("unknown timing '{}'", row.timing));
  }
  if (row.repeat < 1) throw UsageError(fmt::format("unknown repeat {}", row.repeat));
  return row;
}

}  // namespace

std::vector<PlanRow> read_plan(const std::filesystem::path& path) {
  InputFile file(path);
  const std::vector<CsvRow> rows = read_csv(file, path.string());
  if (rows.empty() || rows.front().fields != field_names<PlanRow>()) {
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
