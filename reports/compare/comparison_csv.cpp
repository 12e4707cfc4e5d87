#include "reports/compare/comparison_csv.h"

#include <optional>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"

namespace assay {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 20;

/// Calls `visit(column, cell)` for each column of one side of a trial.
template <class Visitor>
void visit_side(const std::string& side, const StoredTrial* trial, Visitor&& visit) {
  const StoredTime* const time = trial != nullptr && trial->time ? &*trial->time : nullptr;
  const bool has_interval = time != nullptr && time->has_interval();
  const auto text = [&](auto&& value) { return trial != nullptr ? to_cell(value()) : ""; };
  const auto figure = [&](bool is_there, auto&& value) { return is_there ? to_cell(value()) : ""; };
  visit(side + "_device", text([&] { return trial->group->device; }));
  visit(side + "_status", text([&] { return trial->status; }));
  visit(side + "_known_failure", text([&] { return trial->accepted; }));
  visit(side + "_reason", text([&] { return trial->reason; }));
  visit(side + "_repeats", text([&] { return trial->repeats; }));
  visit(side + "_time_median_s", figure(time != nullptr, [&] { return time->median_s; }));
  visit(side + "_time_ci_low_s", figure(has_interval, [&] { return time->low_s; }));
  visit(side + "_time_ci_high_s", figure(has_interval, [&] { return time->high_s; }));
  visit(side + "_contended", figure(time != nullptr, [&] { return time->contended; }));
  visit(side + "_throttled", figure(time != nullptr, [&] { return time->throttled; }));
}

/// The one list of columns.
template <class Visitor>
void visit_columns(const ComparedTrial& trial, const StoredTrial& either, Visitor&& visit) {
  const auto ratio = [](double value) {
    return value > 0 ? std::optional<double>(value) : std::nullopt;
  };
  visit("case_id", to_cell(either.case_id));
  visit("suite", to_cell(either.group->suite));
  visit("op", to_cell(either.group->op));
  visit("dtype", to_cell(either.group->dtype));
  visit("timing", to_cell(either.group->timing));
  visit("change", to_cell(name(trial.change)));
  visit("speed", to_cell(name(trial.speed)));
  visit("ratio", to_cell(ratio(trial.ratio.value)));
  visit("ratio_low", to_cell(ratio(trial.ratio.low)));
  visit("ratio_high", to_cell(ratio(trial.ratio.high)));
  visit_side("base", trial.base, visit);
  visit_side("cand", trial.cand, visit);
  visit("same_bits", to_cell(trial.same_bits));
  visit("same_implementation", to_cell(trial.same_implementation));
}

}  // namespace

std::vector<std::string> comparison_columns() {
  std::vector<std::string> columns;
  const TrialGroup group;
  StoredTrial none;
  none.group = &group;
  visit_columns({}, none,
                [&](const std::string& column, const auto&) { columns.push_back(column); });
  return columns;
}

void write_comparison_csv(OutputFile& file, const Comparison& comparison) {
  std::string text = csv_line(comparison_columns()) + "\n";
  std::vector<std::string> row;
  for (const ComparedTrial& trial : comparison.trials) {
    row.clear();
    visit_columns(trial, trial.either(),
                  [&](const auto&, std::string cell) { row.push_back(std::move(cell)); });
    text += csv_line(row) + "\n";
    if (text.size() < bytes_at_once) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.close();
}

}  // namespace assay
