#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assay {

/// One trial that a run is to take, as plan.csv keeps it. With attempt it is a record's key.
struct PlanRow {
  std::string case_id;
  std::string device;
  std::string timing;
  std::int64_t repeat = 1;
  std::string skip_reason;
  std::size_t line = 0;  // line of the file that it was read from
};

template <class R, class Visitor>
void visit_fields(R& row, Visitor&& visit) requires std::same_as<std::remove_const_t<R>, PlanRow> {
  visit("case_id", row.case_id);
  visit("device", row.device);
  visit("timing", row.timing);
  visit("repeat", row.repeat);
  visit("skip_reason", row.skip_reason);
}

/// Writes plan.csv: all trials of a run, in their order, before the first begins. `--resume`
/// completes those without a row in results.csv.
void write_plan(const std::filesystem::path& path, const std::vector<PlanRow>& plan);

/// Throws UsageError if the file is missing, torn or of another form, or has an unknown timing, an
/// unknown repeat, or a row twice.
std::vector<PlanRow> read_plan(const std::filesystem::path& path);

}  // namespace assay
