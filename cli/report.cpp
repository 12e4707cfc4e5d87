#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>

#include "cli/command.h"
#include "cli/read_history.h"
#include "kernels/core/status.h"
#include "kernels/core/version.h"
#include "reports/files/output_file.h"
#include "reports/history/history_csv.h"
#include "reports/page/page.h"
#include "reports/text/si.h"
#include "session/console/stderr_message.h"
#include "session/options/validators.h"
#include "session/process/exit_code.h"
#include "suites/suite.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  HistoryInput input;
  statistics::EDivisiveOptions statistics;
  fs::path out = "report.html";
  std::string baseline;
  double margin_percent = 5;
};

bool is_run(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "run.json", error);
}

/// Limit on the columns: more do not fit a screen.
constexpr std::size_t max_runs = 16;

/// Paths by kind.
struct Sorted {
  std::vector<fs::path> runs;
  std::vector<fs::path> paired;
  std::vector<fs::path> folders;  // run directories
};

Sorted sort_paths(const std::vector<fs::path>& paths) {
  Sorted sorted;
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    if (!seen.insert(fs::weakly_canonical(path)).second) {
      throw UsageError(fmt::format("'{}' is given twice", path.string()));
    }
    if (page::is_paired_directory(path)) {
      sorted.paired.push_back(path);
    } else if (is_run(path)) {
      sorted.runs.push_back(path);
    } else {
      const std::vector<fs::path> held = find_run_directories(std::span(&path, 1));
      if (held.size() == 1) {
        sorted.runs.push_back(held.front());  // one run is no history
      } else {
        sorted.folders.push_back(path);
      }
    }
  }
  return sorted;
}

page::HistorySource read_history_source(const ReportOptions& options,
                                        const std::vector<fs::path>& folders) {
  HistoryInput input = options.input;
  input.paths = folders;
  StoredHistory stored = read_history(input);
  find_changes(stored.history, options.statistics);
  page::HistorySource source{.history = std::move(stored.history)};
  source.points = {"history.csv", history_csv(source.history)};
  source.passed_over = std::move(stored.passed_over);
  return source;
}

/// Reads the newest run of the builds that the history is about, or of the reference if all are.
/// Reads the newest that can be read if --skip-damaged is given.
page::RunSource read_newest_run(const ReportOptions& options, page::HistorySource& source) {
  const History& history = source.history;
  const bool all_reference = std::ranges::all_of(history.is_reference, std::identity());
  for (std::size_t i = history.runs.size(); i-- > 0;) {
    if (history.is_reference[i] && !all_reference) continue;
    try {
      return page::read_run_source(history.runs[i].directory);
    } catch (const UsageError& damage) {
      if (!options.input.skip_damaged) throw;
      say("skipped: {}\n", damage.what());
      source.passed_over.emplace_back(damage.what());
    }
  }
  throw UsageError("no run directory could be read");
}

void check(const ReportOptions& options, const Sorted& sorted) {
  const HistoryInput& input = options.input;
  if (sorted.folders.empty() && (!input.filter.empty() || !input.devices.empty() ||
                                 !input.reference.empty() || input.skip_damaged)) {
    throw UsageError(
        "--filter, --device, --reference and --skip-damaged are for histories: give a folder of "
        "several runs");
  }
  if (!options.baseline.empty() && sorted.runs.empty() && sorted.folders.empty()) {
    throw UsageError(
        "--baseline is for runs: two builds that were compared have a base of their own");
  }
  if (sorted.runs.size() > max_runs) {
    throw UsageError(fmt::format(
        "{} runs do not fit side by side, at most {} do; give their folder to see their history",
        sorted.runs.size(), max_runs));
  }
}

page::PageInput read_input(const ReportOptions& options) {
  const Sorted sorted = sort_paths(options.input.paths);
  check(options, sorted);
  page::PageInput input{.baseline = options.baseline, .margin = options.margin_percent / 100};
  input.made_by = fmt::format("assay {} ({})", version::number, version::git_revision);
  for (const Suite& suite : all_suites()) input.suites.emplace(suite.name, suite.description);
  if (!sorted.folders.empty()) input.history = read_history_source(options, sorted.folders);
  for (const fs::path& run : sorted.runs) input.runs.push_back(page::read_run_source(run));
  if (input.history && input.runs.empty()) {
    // Readers of a history want to know about its newest run first.
    input.runs.push_back(read_newest_run(options, *input.history));
  }
  for (const fs::path& path : sorted.paired) {
    input.paired.push_back(page::read_paired_source(path));
  }
  return input;
}

int execute(const ReportOptions& options) {
  OutputFile out("--out", options.out, std::string(page::page_begin));
  const std::string html = page::page_html(read_input(options));
  out.write(html);
  out.close();
  say("{}: {}; open it in any browser, no network needed\n", out.name(),
      si(static_cast<double>(html.size()), "B"));
  return ok;
}

}  // namespace

Command add_report(CLI::App& program) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* app = program.add_subcommand(
      "report", "write one self-contained page: runs or devices side by side, an ab, a history");
  app->add_option("RUN", options->input.paths,
                  "run directories, directories of assay ab, folders of runs")
      ->required()
      ->type_name("");
  app->add_option("-o,--out", options->out, "the page; replaces an older one; - is standard output")
      ->check(not_empty())
      ->type_name("FILE")
      ->capture_default_str();
  app->add_option("--baseline", options->baseline,
                  "the column that others are compared with: cpu, 'cuda:0 of run 2' (default: the "
                  "first)")
      ->type_name("COLUMN");
  app->add_option("--margin", options->margin_percent, "ignore smaller differences of time")
      ->check(number_between(0, 1000))
      ->type_name("PERCENT")
      ->capture_default_str();
  add_history_options(*app, options->input);
  app->footer(
      R"(Run directories stand side by side, device by device. A folder of several is shown as a history,
with its newest run; the options from --filter on are those of assay history, for folders alone.
Exit codes: 0 the page is written, whether the runs were right or not; 2 a path that is none of
these, or damaged.

Examples:
  assay report assay-runs/MONDAY                     one run, all of its devices
  assay report assay-runs -o year.html               a folder of runs: their history, the newest run
  assay report h100 h200 --baseline 'cuda:0 of run 1' -o machines.html
  assay report assay-ab/TUESDAY -o ab.html           the result of assay ab)");
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
