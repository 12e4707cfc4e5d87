#include "reports/files/plan_csv.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "harness/records/csv_table.h"
#include "harness/records/input_file.h"
#include "harness/records/record.h"
#include "reports/files/atomic_file.h"

namespace assay {

void write_plan(const std::filesystem::path& path, const std::vector<PlanRow>& plan) {
  write_atomically(path, write_table(plan));
}

std::vector<PlanRow> read_plan(const std::filesystem::path& path) {
  InputFile file(path);
  const std::vector<std::string> columns = field_names<PlanRow>();
  std::set<std::tuple<std::string, std::string, std::string, std::int64_t>> seen;
  return read_table<PlanRow>(
      file, path.string(), {.required = columns, .allowed = columns},
      [&](PlanRow& row, const TableRow& cells) {
        row.line = cells.line();
        if (!row.timing.empty() && row.timing != batch_timing && row.timing != cold_timing) {
          throw cells.error("timing", fmt::format("unknown timing '{}'", row.timing));
        }
        if (row.repeat < 1) throw cells.error("repeat", "must be above 0");
        if (!seen.emplace(row.case_id, row.device, row.timing, row.repeat).second) {
          throw cells.error(std::size_t{0},
                            fmt::format("a second row of {} on {}", row.case_id, row.device));
        }
      });
}

}  // namespace assay
