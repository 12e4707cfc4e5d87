#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <limits>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "kernels/core/status.h"
#include "reports/compare/comparison_csv.h"
#include "reports/compare/comparison_report.h"
#include "reports/files/output_file.h"
#include "session/console/stderr_message.h"
#include "session/options/validators.h"
#include "session/process/exit_code.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct CompareOptions {
  fs::path base;
  fs::path cand;
  fs::path csv;
  fs::path markdown;
  double margin_percent = 5;
  bool hardware = false;
  bool fail_on_suspect = false;
  bool all = false;
};

void check(const CompareOptions& options) {
  if (options.hardware && options.fail_on_suspect) {
    throw UsageError(
        "--fail-on-suspect does not go with --hardware: between machines nothing is suspected");
  }
  std::error_code missing;
  if (fs::equivalent(options.base, options.cand, missing)) {
    throw UsageError(fmt::format("BASE and CAND are the same directory, '{}'; give two runs",
                                 options.base.string()));
  }
}

std::vector<DevicePair> pair_checked(const EndedRun& base, const EndedRun& cand, bool hardware) {
  std::vector<DevicePair> pairs = pair_devices(base, cand, hardware);
  const std::vector<Difference> different = hardware_differences(pairs);
  if (!hardware && !different.empty()) {
    const Difference& first = different.front();
    throw UsageError(
        fmt::format("different hardware: {} is '{}' in BASE and '{}' in CAND, so a slower time is "
                    "no regression; "
                    "compare runs of one machine, or the machines themselves with --hardware",
                    first.what, first.base, first.cand));
  }
  return pairs;
}

/// Reads both files at once: reading takes most of the time.
std::pair<std::unique_ptr<StoredTrials>, std::unique_ptr<StoredTrials>> read_both(
    const EndedRun& base, const EndedRun& cand) {
  const auto read = [](const EndedRun& run) {
    return std::make_unique<StoredTrials>(run.run.directory / "results.csv");
  };
  auto of_base = std::async(std::launch::async, read, std::cref(base));
  auto of_cand = read(cand);
  return {of_base.get(), std::move(of_cand)};
}

ExitCode exit_code_of(const Comparison& comparison, bool fail_on_suspect) {
  if (comparison.is_worse()) return wrong;
  if (fail_on_suspect && comparison.count(Speed::slower) > 0) return regression;
  if (!comparison.compares_anything()) {
    say("assay: the two runs have no judged trial in common, so nothing was compared: a trial is "
        "one case on one device, timed one way or only checked; give runs of the same selection\n");
    return absent;
  }
  return ok;
}

int execute(const CompareOptions& options) {
  check(options);
  std::optional<OutputFile> csv;
  std::optional<OutputFile> markdown;
  if (!options.csv.empty()) csv.emplace("--csv", options.csv);
  if (!options.markdown.empty()) markdown.emplace("--markdown", options.markdown);
  check_distinct({&csv, &markdown});
  const EndedRun base = read_ended_run(options.base);
  const EndedRun cand = read_ended_run(options.cand);
  const std::vector<DevicePair> pairs = pair_checked(base, cand, options.hardware);
  const auto [base_trials, cand_trials] = read_both(base, cand);
  if (std::ranges::none_of(base_trials->trials(), &StoredTrial::passed)) {
    throw UsageError(fmt::format(
        "BASE '{}' has no trial that passed, so nothing can be compared with it; give another run",
        options.base.string()));
  }

  ComparisonOptions how{.margin = options.margin_percent / 100,
                        .hardware = options.hardware,
                        .same_seed = base.run.seed == cand.run.seed};
  for (const DevicePair& pair : pairs) {
    if (pair.base_id() != pair.cand_id())
      how.other_ids.emplace_back(pair.base_id(), pair.cand_id());
  }
  const Comparison comparison = compare_trials(*base_trials, *cand_trials, how);
  const std::vector<Difference> differences = environment_differences(base, cand, pairs);
  ComparisonFacts facts{base, cand, *base_trials, *cand_trials, differences, comparison, how};
  if (options.all) facts.longest_list = std::numeric_limits<std::size_t>::max();
  const std::vector<Section> sections = comparison_sections(facts);
  const std::string summary = comparison_summary(facts);
  if (csv) write_comparison_csv(*csv, comparison);
  if (markdown) {
    markdown->write(sections_markdown(sections) + summary + "\n");
    markdown->close();
  }
  const bool is_taken =
      (csv && csv->is_standard_output()) || (markdown && markdown->is_standard_output());
  if (!is_taken) show_text(sections_text(sections) + summary + "\n");
  return exit_code_of(comparison, options.fail_on_suspect);
}

}  // namespace

Command add_compare(CLI::App& program) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* app = program.add_subcommand(
      "compare", "show what changed between two stored runs, and how surely");
  app->add_option("BASE", options->base, "run directory to compare with")->required();
  app->add_option("CAND", options->cand, "run directory of the candidate")->required();
  app->add_option("--margin", options->margin_percent, "ignore smaller differences of time")
      ->check(number_between(0, 1000))
      ->type_name("PERCENT")
      ->capture_default_str();
  app->add_option("--csv", options->csv, "write one row per trial, with the figures of both sides")
      ->check(not_empty())
      ->type_name("FILE");
  app->add_option("--markdown", options->markdown, "write the report as Markdown too")
      ->check(not_empty())
      ->type_name("FILE");
  app->add_flag("--hardware", options->hardware, "compare two machines, not two builds");
  app->add_flag("--fail-on-suspect", options->fail_on_suspect, "exit 5 if there are suspects");
  app->add_flag("--all", options->all, "show lists of any length");
  app->footer(
      R"(Exit codes: 0 nothing is worse; 1 a case no longer passes, is missing, or is new and bad; 2 the runs
cannot be compared; 3 nothing in common; 5 suspects, with --fail-on-suspect.

Examples:
  assay compare assay-runs/MONDAY assay-runs/TUESDAY
  assay compare base cand --margin 10 --fail-on-suspect --markdown comparison.md
  assay compare old-machine new-machine --hardware --csv ratios.csv)");
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
