#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/read_libraries.h"
#include "reports/files/output_file.h"
#include "reports/libraries/libraries_csv.h"
#include "reports/libraries/libraries_report.h"
#include "session/console/stderr_message.h"
#include "session/options/validators.h"
#include "session/process/exit_code.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct LibrariesOptions {
  std::vector<fs::path> paths;
  fs::path csv;
  fs::path markdown;
  bool all = false;
};

/// Says why nothing was compared; returns whether that is so.
bool compares_nothing(const LibrariesFacts& facts) {
  if (facts.runs.size() < 2) {
    say("assay: {}: there is nothing to compare with; give a run of other kernels too\n",
        facts.directories.front());
    return true;
  }
  for (const std::size_t run : facts.table.unanswered) {
    say("assay: {} and {} have no judged trial in common, so nothing was compared; give runs whose "
        "kernels have an op in common on one device\n",
        facts.directories.front(), facts.directories[run]);
  }
  return !facts.table.unanswered.empty();
}

ExitCode exit_code_of(const StoredLibraries& stored, const LibrariesFacts& facts) {
  bool any_wrong = false;
  bool any_broken = false;
  for (const auto& trials : stored.trials) {
    for (const StoredTrial& trial : trials->trials()) {
      if (!trial.is_bad()) continue;
      const bool is_broken = class_of(trial.status) == StatusClass::broken;
      (is_broken ? any_broken : any_wrong) = true;
    }
  }
  const bool nothing = compares_nothing(facts);
  if (any_wrong) return wrong;
  if (any_broken) return infrastructure;
  return nothing ? absent : ok;
}

int execute(const LibrariesOptions& options) {
  std::optional<OutputFile> csv;
  std::optional<OutputFile> markdown;
  if (!options.csv.empty()) csv.emplace("--csv", options.csv, first_columns(libraries_columns()));
  if (!options.markdown.empty()) markdown.emplace("--markdown", options.markdown);
  check_distinct({&csv, &markdown});
  const StoredLibraries stored = read_libraries(options.paths);
  const LibraryTable table = compare_libraries(stored.runs);
  LibrariesFacts facts{.runs = stored.runs,
                       .directories = stored.directories,
                       .differences = stored.differences,
                       .table = table};
  if (options.all) facts.longest_list = std::numeric_limits<std::size_t>::max();
  const std::vector<Section> sections = libraries_sections(facts);
  const std::string summary = libraries_summary(facts) + "\n";
  if (csv) {
    csv->write(libraries_csv(facts));
    csv->close();
  }
  if (markdown) {
    markdown->write(sections_markdown(sections) + summary);
    markdown->close();
  }
  const bool is_taken =
      (csv && csv->is_standard_output()) || (markdown && markdown->is_standard_output());
  if (!is_taken) show_text(sections_text(sections) + summary);
  std::fflush(stdout);  // before messages on standard error
  return exit_code_of(stored, facts);
}

}  // namespace

Command add_libraries(CLI::App& program) {
  auto options = std::make_shared<LibrariesOptions>();
  CLI::App* app = program.add_subcommand(
      "libraries", "compare kernels on one machine: which library is right, and how fast");
  app->add_option("RUN", options->paths,
                  "run directories, or folders of them; times are over those of the first run")
      ->required()
      ->type_name("");
  app->add_option("--csv", options->csv, "write a row for each run, over all and by op and dtype")
      ->check(not_empty())
      ->type_name("FILE");
  app->add_option("--markdown", options->markdown, "write the report as Markdown too")
      ->check(not_empty())
      ->type_name("FILE");
  app->add_flag("--all", options->all, "show lists of any length");
  app->footer(
      R"(The runs are of one machine and one selection, with other kernels each: Assay's, and those of
assay run --kernels. Wrong results have no time.
Exit codes: 0 all was right, whichever is faster; 1 a result was wrong; 2 a path that is no run
directory, a damaged or unfinished run, other hardware, another seed or selection; 3 a single run, or
kernels that have nothing in common with the first run's; 4 a crash, a time-out or another failure.

Examples:
  assay libraries own onednn openblas
  assay libraries own torch --csv libraries.csv --markdown libraries.md
  assay libraries old-torch new-torch --all                      two versions of a library)");
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
