#include "session/selftest/felt.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/felt/measure.h"
#include "harness/records/csv.h"
#include "kernels/core/clock.h"
#include "kernels/cpu/backend.h"
#include "reports/files/output_file.h"
#include "session/console/stderr_message.h"
#include "session/process/exit_code.h"

namespace assay {
namespace {

using felt::Finding;

struct Count {
  std::int64_t felt = 0;
  std::int64_t all = 0;
  void add(bool is_felt) {
    felt += is_felt ? 1 : 0;
    ++all;
  }
  std::string text() const {
    if (all == 0) return "";
    // Rounded down: 100% are all of them.
    const std::int64_t hundredths = felt * 10'000 / all;
    return fmt::format("{}.{:02}% of {}", hundredths / 100, hundredths % 100, all);
  }
};

struct Counts {
  Count borders;
  Count drawn;
  void add(const Finding& finding) { (finding.is_drawn ? drawn : borders).add(finding.is_felt); }
};

const std::vector<std::string> felt_header{"case_id", "rank", "input",    "misread",
                                           "place",   "felt", "elements", "first_not_felt"};

/// A row for each input of a case and way to misread it.
std::string rows_of(const std::string& case_id, const std::vector<Finding>& findings) {
  struct Row {
    Count count;
    std::string first_not_felt;
  };
  std::map<std::tuple<int, int, felt::Misread, bool>, Row> rows;
  for (const Finding& f : findings) {
    Row& row = rows[{f.rank, f.input, f.as, f.is_drawn}];
    row.count.add(f.is_felt);
    if (!f.is_felt && row.first_not_felt.empty()) row.first_not_felt = std::to_string(f.element);
  }
  std::string text;
  for (const auto& [key, row] : rows) {
    const auto& [rank, input, as, is_drawn] = key;
    text += csv_line(std::vector<std::string>{case_id, std::to_string(rank), std::to_string(input),
                                              std::string(name(as)), is_drawn ? "drawn" : "border",
                                              std::to_string(row.count.felt),
                                              std::to_string(row.count.all), row.first_not_felt}) +
            "\n";
  }
  return text;
}

}  // namespace

int execute_felt(const Selection& selection, const std::filesystem::path& csv) {
  const std::vector<Case> cases = select_cases(selection);
  OutputFile file("--csv", csv, first_columns(felt_header));
  felt::Measure measure(cpu::make_backend(), {});
  std::map<std::pair<std::string, std::string>, Counts> by_op;
  Counts all;
  std::string text = csv_line(felt_header) + "\n";
  double reported_s = steady_s();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& test = cases[i];
    if (constexpr double between_s = 10; steady_s() - reported_s > between_s) {
      reported_s = steady_s();
      say("felt: {} of {} cases\n", i, cases.size());
    }
    const std::vector<Finding> findings = measure.run(test);
    Counts& counts = by_op[{std::string(test.op.op->name), std::string(name(test.op.format))}];
    for (const Finding& finding : findings) {
      counts.add(finding);
      all.add(finding);
    }
    text += rows_of(test.id(), findings);
  }
  std::FILE* screen = file.is_standard_output() ? stderr : stdout;
  show(screen, "{:<24}  {:<8}  {:<22}  {}\n", "op", "dtype", "at borders", "drawn");
  for (const auto& [key, counts] : by_op) {
    if (counts.borders.all == 0) continue;
    show(screen, "{:<24}  {:<8}  {:<22}  {}\n", key.first, key.second, counts.borders.text(),
         counts.drawn.text());
  }
  std::fflush(screen);
  file.write(text);
  file.close();
  say("felt: {} at borders, {} of drawn elements\n{}\n", all.borders.text(), all.drawn.text(),
      file.name());
  const bool is_whole =
      all.borders.all > 0 && all.borders.felt == all.borders.all && all.drawn.felt == all.drawn.all;
  return is_whole ? ok : wrong;
}

}  // namespace assay
