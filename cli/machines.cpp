#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/read_machines.h"
#include "harness/statistics/robust_z.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/files/output_file.h"
#include "reports/machines/figures.h"
#include "reports/machines/machines_csv.h"
#include "reports/machines/machines_report.h"
#include "session/console/stderr_message.h"
#include "session/options/validators.h"
#include "session/process/exit_code.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct MachinesOptions {
  MachinesInput input;
  std::string baseline;
  double margin_percent = 2;
  bool fail_on_outlier = false;
  bool all = false;
  fs::path csv;
  fs::path outliers;
  fs::path bits;
  fs::path figures;
  fs::path markdown;
};

/// The requested files.
struct MachinesOutputs {
  explicit MachinesOutputs(const MachinesOptions& options) {
    if (!options.csv.empty()) csv.emplace("--csv", options.csv, first_columns(machines_columns()));
    if (!options.outliers.empty()) {
      outliers.emplace("--outliers", options.outliers, first_columns(machines_outliers_columns()));
    }
    if (!options.bits.empty()) {
      bits.emplace("--bits", options.bits, first_columns(machines_bits_columns()));
    }
    if (!options.figures.empty()) {
      figures.emplace("--figures", options.figures, first_columns(machines_figures_columns()));
    }
    if (!options.markdown.empty()) markdown.emplace("--markdown", options.markdown);
    check_distinct({&csv, &outliers, &bits, &figures, &markdown});
  }
  bool take_standard_output() const {
    return std::ranges::any_of(
        std::array{&csv, &outliers, &bits, &figures, &markdown},
        [](const auto* file) { return *file && (*file)->is_standard_output(); });
  }

  std::optional<OutputFile> csv;
  std::optional<OutputFile> outliers;
  std::optional<OutputFile> bits;
  std::optional<OutputFile> figures;
  std::optional<OutputFile> markdown;
};

void write(std::optional<OutputFile>& file, const std::function<std::string()>& text) {
  if (!file) return;
  file->write(text());
  file->close();
}

bool is_timed(const Fleet& fleet, const FleetColumn& column) {
  return std::ranges::any_of(column.machines, [&](std::uint32_t machine) {
    return std::ranges::any_of(fleet.machines[machine].units,
                               [](const FleetUnit& unit) { return !unit.times.empty(); });
  });
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Returns the columns that the text may name: by their own name, a product's, a host's, that of a
/// run directory, or a part of their name.
std::vector<std::size_t> named(const std::string& text, const Fleet& fleet,
                               std::span<const FleetColumn> columns) {
  const auto find = [&](const auto& is_it) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (is_it(columns[i])) found.push_back(i);
    }
    return found;
  };
  const auto of_host = [&](const std::string& host) {
    return find([&](const FleetColumn& column) {
      return std::ranges::any_of(column.machines,
                                 [&](auto m) { return fleet.machines[m].host == host; });
    });
  };
  std::vector<std::size_t> found = find([&](const auto& column) { return column.name == text; });
  if (found.empty()) found = of_host(text);
  std::error_code none;
  if (found.empty() && fs::exists(fs::path(text) / "run.json", none)) {
    found = of_host(read_stored_run(text).host);
  }
  if (found.empty()) {
    found = find([&](const auto& column) {
      return lower(column.name).find(lower(text)) != std::string::npos;
    });
  }
  return found;
}

std::size_t find_baseline(const std::string& text, const Fleet& fleet,
                          std::span<const FleetColumn> columns) {
  if (text.empty()) {
    const auto first =
        std::ranges::find_if(columns, [&](const auto& column) { return is_timed(fleet, column); });
    return first == columns.end() ? 0 : static_cast<std::size_t>(first - columns.begin());
  }
  const std::vector<std::size_t> found = named(text, fleet, columns);
  std::vector<std::string> names;
  if (found.empty()) {
    for (const FleetColumn& column : columns) names.push_back(column.name);
    throw UsageError("--baseline: " + unknown_name("machine", text, names));
  }
  if (found.size() > 1) {
    for (const std::size_t i : found) names.push_back(columns[i].name);
    throw UsageError(fmt::format("--baseline: '{}' may be any of: {}", text, join(names, ", ")));
  }
  if (!is_timed(fleet, columns[found.front()])) {
    throw UsageError(
        fmt::format("--baseline: {} has no times; give another", columns[found.front()].name));
  }
  return found.front();
}

/// Says why nothing was compared; returns whether that is so.
bool compares_nothing(const MachinesFacts& facts, const MachinesOptions& options) {
  const bool any_tests = std::ranges::any_of(
      facts.outliers, [](const ProductOutliers& product) { return !product.tests.empty(); });
  if (options.fail_on_outlier && !any_tests) {
    say("assay: --fail-on-outlier: too few devices of one product have a case in common; it takes "
        "{}\n",
        statistics::min_for_outliers);
    return true;
  }
  if (!facts.speeds.all.empty() || (facts.columns.size() < 2 && any_tests)) return false;
  const auto timed = facts.columns.size() - facts.speeds.untimed.size();
  if (facts.columns.size() < 2) {
    if (!options.figures.empty() && !figures_section(facts).rows.empty()) return false;
    say("assay: {}: there is nothing to compare with; give runs of another machine too\n",
        facts.columns.empty() ? "no machine" : facts.columns.front().name);
  } else if (timed < 2) {
    say("assay: {} of {} machines have times, so nothing was compared; give timed runs, without "
        "--check-only\n",
        timed, facts.columns.size());
  } else {
    say("assay: the machines have no timed case in common, so nothing was compared; give runs of "
        "the same selection ({} has the fewest cases, {})\n",
        facts.columns[facts.speeds.min_cases_column].name, facts.speeds.min_cases);
  }
  return true;
}

ExitCode exit_code_of(const MachinesFacts& facts, const MachinesOptions& options) {
  std::int64_t wrong_trials = 0;
  for (const FleetMachine& machine : facts.fleet.machines) wrong_trials += machine.wrong;
  const bool nothing = compares_nothing(facts, options);
  if (wrong_trials > 0) return wrong;
  if (facts.fleet.failed_trials() > 0) return infrastructure;
  const bool any_outlier = std::ranges::any_of(
      facts.outliers, [](const ProductOutliers& product) { return product.outliers() > 0; });
  if (options.fail_on_outlier && any_outlier) return regression;
  return nothing ? absent : ok;
}

int execute(const MachinesOptions& options) {
  MachinesOutputs files(options);
  const StoredFleet stored = read_fleet(options.input);
  const std::vector<FleetColumn> columns = fleet_columns(stored.fleet);
  const std::size_t baseline = find_baseline(options.baseline, stored.fleet, columns);
  const FleetSpeeds speeds = fleet_speeds(stored.fleet, columns, baseline);
  const OutlierRule rule{.margin = options.margin_percent / 100};
  const std::vector<ProductOutliers> outliers = find_outliers(stored.fleet, rule);
  MachinesFacts facts{.fleet = stored.fleet,
                      .columns = columns,
                      .speeds = speeds,
                      .outliers = outliers,
                      .rule = rule,
                      .passed_over = stored.passed_over,
                      .runs = stored.runs};
  if (options.all) facts.longest_list = std::numeric_limits<std::size_t>::max();
  std::vector<Section> sections = machines_sections(facts);
  // Behind the machines themselves, and before their comparison.
  if (Section figures = figures_section(facts); !figures.rows.empty()) {
    sections.insert(sections.begin() + 1, std::move(figures));
  }
  const std::string summary = machines_summary(facts) + "\n";
  write(files.csv, [&] { return machines_csv(facts); });
  write(files.outliers, [&] { return machines_outliers_csv(facts); });
  write(files.bits, [&] { return machines_bits_csv(facts); });
  write(files.figures, [&] { return machines_figures_csv(facts); });
  write(files.markdown, [&] { return sections_markdown(sections) + summary; });
  if (!files.take_standard_output()) show_text(sections_text(sections) + summary);
  std::fflush(stdout);  // before messages on standard error
  return exit_code_of(facts, options);
}

void add_selection(CLI::App& app, MachinesInput& o) {
  app.add_option("--suite", o.suites, "only these suites")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  app.add_option("--filter", o.filter, "only cases whose id matches (searched)")
      ->type_name("REGEX");
  app.add_option("--case", o.cases, "only this case, literally; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID");
  app.add_option("--device", o.devices, "only these devices: cpu, cuda (all of them), cuda:1")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  app.add_flag("--stand-ins", o.stand_ins,
               "take times of simulated and emulated devices, to try things out");
  app.add_flag("--skip-damaged", o.skip_damaged,
               "leave out run directories that cannot be read or did not end, and list them");
}

void add_outputs(CLI::App& app, MachinesOptions& o) {
  const auto add = [&](const char* option, fs::path& file, const char* description) {
    app.add_option(option, file, description)->check(not_empty())->type_name("FILE");
  };
  add("--csv", o.csv, "write a row for each machine, over all and by suite and dtype");
  add("--outliers", o.outliers, "write a row for each device, suite and dtype that was tested");
  add("--bits", o.bits, "write a row for each output of the cases whose bits differ");
  add("--figures", o.figures,
      "write a row for each of the figures that buyers compare, and machine");
  add("--markdown", o.markdown, "write the report as Markdown too");
  app.add_flag("--all", o.all, "show lists of any length");
}

}  // namespace

Command add_machines(CLI::App& program) {
  auto options = std::make_shared<MachinesOptions>();
  CLI::App* app = program.add_subcommand(
      "machines", "compare machines: speeds, rankings, outliers, bits that differ");
  app->add_option("RUN", options->input.paths, "run directories, or folders of them")
      ->required()
      ->type_name("");
  app->add_option("--baseline", options->baseline,
                  "the machine that others are compared with: its product or a part of that, its "
                  "host, or a run of it (default: that of the first run)")
      ->check(not_empty())
      ->type_name("NAME|RUN");
  app->add_option("--margin", options->margin_percent,
                  "smaller differences of time are no outliers")
      ->check(number_between(0, 1000))
      ->type_name("PERCENT")
      ->capture_default_str();
  app->add_flag("--fail-on-outlier", options->fail_on_outlier,
                "exit 5 if a device is an outlier among those of its product");
  add_selection(*app, options->input);
  add_outputs(*app, *options);
  app->footer(
      R"(A machine is the devices of one product in one host. Several products are compared with each other,
machines of one product too where it is the only one; outliers are sought among its devices.
Exit codes: 0 the machines are compared, whichever is faster; 1 a result was wrong; 2 a path that is
no run directory, a damaged or unfinished run, an unknown name; 3 nothing in common, or a single
machine without --figures; 4 a crash, a time-out or another failure in a run; 5 outliers, with --fail-on-outlier.

Examples:
  assay machines h100-run a100-run l4-run --baseline A100
  assay machines h100-run --figures figures.csv         bandwidths, product rates, copies, latency
  assay machines fleet/ --fail-on-outlier --outliers outliers.csv     a folder of run directories
  assay machines fleet/ --suite linear --device cuda --csv speeds.csv --markdown speeds.md)");
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
