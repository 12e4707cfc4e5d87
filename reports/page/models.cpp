#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "reports/page/cells.h"
#include "reports/page/content.h"
#include "reports/page/times.h"
#include "reports/text/few_samples.h"

namespace assay::page {
namespace {

/// Kernels that are the Model of a problem itself, by the word of --kernels.
constexpr std::string_view eager = "torch";
constexpr std::string_view compiled = "compiled";

const StoredRun& run_of(const Content& content, std::size_t column) {
  return content.input.runs[content.columns[column].run].run;
}

bool is_model(const StoredRun& run) {
  return run.kernels.path == eager || run.kernels.path == compiled;
}

/// Column of the same problems and device by the Model; nothing if no run has it.
std::optional<std::size_t> beside(const Content& content, std::size_t column,
                                  std::string_view word) {
  const StoredRun& run = run_of(content, column);
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    const StoredRun& other = run_of(content, c);
    if (other.kernels.path == word && other.problem.crc32 == run.problem.crc32 &&
        other.host == run.host && content.columns[c].device == content.columns[column].device) {
      return c;
    }
  }
  return std::nullopt;
}

Json speed_up_cell(const Content& content, const Times& times, std::size_t column,
                   const Record& trial, std::string_view word) {
  const auto base = beside(content, column, word);
  if (!base) return number_cell("no run", std::nullopt);
  if (trial.status != Status::pass) return number_cell("", std::nullopt);
  const auto ratio = times.ratio(column, trial, *base);
  if (!ratio) return number_cell("no time", std::nullopt);
  const double speed_up = 1 / ratio->value;
  Json cell = number_cell(fmt::format("{:.3g}×", speed_up), speed_up);
  cell["interval"] = ratio->low > 0
                         ? fmt::format("{:.3g} to {:.3g}", 1 / ratio->high, 1 / ratio->low)
                         : std::string(too_few_samples);
  return cell;
}

Json table_of(const Content& content, const Times& times, std::size_t column) {
  const std::size_t r = content.columns[column].run;
  const RunSource& source = content.input.runs[r];
  Json rows = Json::array();
  for (std::size_t i = 0; i < source.trials.size(); ++i) {
    const Record& trial = source.trials[i];
    if (content.columns.of(r, trial.device) != column) continue;
    Json cells =
        Json::array({case_cell(trial.op, row_link(r, source.rows[i])), status_cell(trial)});
    if (!is_model(source.run)) {
      for (const std::string_view word : {eager, compiled}) {
        cells.push_back(speed_up_cell(content, times, column, trial, word));
      }
    }
    cells.push_back(text_cell(trial.reason));
    rows.push_back(std::move(cells));
  }
  std::vector<Heading> headings{"Problem", "Right"};
  if (!is_model(source.run)) {
    headings.push_back(Heading::of_numbers("Speed-up over eager"));
    headings.push_back(Heading::of_numbers("over compiled"));
  }
  headings.emplace_back("Why");
  return table(fmt::format("{}: {}", source.run.kernels_name, content.columns[column].label),
               headings, std::move(rows));
}

}  // namespace

Json models_part(const Content& content) {
  const Times times(content);
  Json tables = Json::array();
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    if (!run_of(content, c).problem.path.empty()) tables.push_back(table_of(content, times, c));
  }
  if (tables.empty()) return nullptr;
  return {{"title", "Problems"},
          {"remark",
           "Right is what lies in the band of the Model in f64. A speed-up is the time of the "
           "Model by PyTorch, eager or compiled, over that of the solution, on the same machine; "
           "both write their result into memory of the judge. Its interval combines those of two "
           "processes: assay ab pairs them."},
          {"tables", std::move(tables)}};
}

}  // namespace assay::page
