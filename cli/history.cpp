#include "reports/history/history.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "cli/command.h"
#include "cli/read_history.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/chart/svg.h"
#include "reports/files/output_file.h"
#include "reports/history/history_csv.h"
#include "reports/history/history_svg.h"
#include "reports/history/history_text.h"
#include "session/console/stderr_message.h"
#include "session/options/validators.h"
#include "session/process/exit_code.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct HistoryOptions {
  HistoryInput input;
  statistics::EDivisiveOptions statistics;
  fs::path csv;
  fs::path changes;
  fs::path svg;
  std::size_t panels = 40;
};

/// Checks the options that need no run.
void check(const HistoryOptions& options) {
  const auto least = static_cast<int>(std::ceil(1 / options.statistics.p - 1 - 1e-9));
  if (options.statistics.permutations < least) {
    throw UsageError(fmt::format("--permutations {} can never show p <= {:g}; take at least {}",
                                 options.statistics.permutations, options.statistics.p, least));
  }
}

void say_what_values_are(const History& history) {
  if (!history.relative) {
    say("note: absolute times, and machines drift: changes of the machine show as changes of the "
        "program; run a pinned build beside each run and name it with --reference\n");
    return;
  }
  std::set<std::string> builds;
  for (std::size_t i = 0; i < history.runs.size(); ++i) {
    if (history.is_reference[i]) builds.insert(history.runs[i].build_id);
  }
  if (builds.size() > 1) {
    say("note: the reference is {} builds, which may differ: {}\n", builds.size(),
        join(std::vector<std::string>(builds.begin(), builds.end()), "; "));
  }
}

/// The requested files.
struct Outputs {
  explicit Outputs(const HistoryOptions& options) {
    if (!options.csv.empty()) {
      csv.emplace("--csv", options.csv, first_columns(history_columns()));
    }
    if (!options.changes.empty()) {
      changes.emplace("--changes", options.changes, first_columns(history_changes_columns()));
    }
    if (!options.svg.empty()) {
      svg.emplace("--svg", options.svg, std::string(svg_document_begin));
    }
    check_distinct({&csv, &changes, &svg});
  }
  bool take_standard_output() const {
    return std::ranges::any_of(std::array{&csv, &changes, &svg}, [](const auto* file) {
      return *file && (*file)->is_standard_output();
    });
  }

  std::optional<OutputFile> csv;
  std::optional<OutputFile> changes;
  std::optional<OutputFile> svg;
};

void write(std::optional<OutputFile>& file, const std::string& text) {
  file->write(text);
  file->close();
}

void write_files(Outputs& files, const History& history, std::size_t panels) {
  if (files.csv) write(files.csv, history_csv(history));
  if (files.changes) write(files.changes, history_changes_csv(history));
  if (!files.svg) return;
  const HistoryChart chart = history_svg(history, panels);
  write(files.svg, chart.document);
  if (chart.left_out > 0) {
    say("note: {} has {} panels; {} more series have none, see --panels\n", files.svg->name(),
        chart.shown, chart.left_out);
  }
}

int execute(const HistoryOptions& options) {
  check(options);
  Outputs files(options);
  History history = read_history(options.input).history;
  say_what_values_are(history);
  find_changes(history, options.statistics);
  write_files(files, history, options.panels);
  if (!files.take_standard_output()) show_text(history_text(history, options.statistics));
  if (std::ranges::any_of(history.series,
                          [](const auto& series) { return !series.points.empty(); })) {
    return ok;
  }
  std::fflush(stdout);  // before messages on standard error
  say("assay: no series has a point: {}\n",
      history.series.empty() ? "these runs timed nothing" : "see the reasons above");
  return absent;
}

void add_outputs(CLI::App& app, HistoryOptions& o) {
  app.add_option("--csv", o.csv, "write a row for each run of each series; - is standard output")
      ->check(not_empty())
      ->type_name("FILE");
  app.add_option("--changes", o.changes, "write a row for each change")
      ->check(not_empty())
      ->type_name("FILE");
  app.add_option("--svg", o.svg, "write a chart with a panel for each series")
      ->check(not_empty())
      ->type_name("FILE");
  app.add_option("--panels", o.panels, "show at most N panels, those with changes first")
      ->check(CLI::Range(1, 100000))
      ->type_name("N")
      ->capture_default_str();
}

void add_statistics(CLI::App& app, statistics::EDivisiveOptions& o) {
  app.add_option("--p", o.p, "report changes with at most this p value")
      ->check(number_between(1e-6, 0.5))
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--permutations", o.permutations, "permutations for each p")
      ->check(CLI::Range(1, 10000000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--smallest-segment", o.smallest_segment,
                 "the fewest runs of a level: shorter levels are not found")
      ->check(CLI::Range(2, 1000000))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

Command add_history(CLI::App& program) {
  auto options = std::make_shared<HistoryOptions>();
  CLI::App* app =
      program.add_subcommand("history", "show when the time of a case changed over many runs");
  app->add_option("DIR", options->input.paths, "run directories, or folders of them")
      ->required()
      ->type_name("");
  add_history_options(*app, options->input);
  add_outputs(*app, *options);
  add_statistics(*app, options->statistics);
  app->footer(
      R"(A change is a place to look, not a verdict: a gate belongs to builds that ran side by side. Exit
codes: 0 with changes and without; 2 a path that is no run directory, a damaged one, or nothing
selected; 3 no series has a point.

Examples:
  assay history assay-runs                          what changed, and between which runs
  assay history assay-runs --reference 4f0c2d81     ratios to that build, run beside each
  assay history assay-runs --filter linear/bf16 --device cuda --svg linear.svg --csv linear.csv)");
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
