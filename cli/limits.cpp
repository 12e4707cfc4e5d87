#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/selection_flags.h"
#include "harness/records/csv_table.h"
#include "harness/records/fields_json.h"
#include "kernels/core/status.h"
#include "reports/files/output_file.h"
#include "reports/text/limits_table.h"
#include "session/console/stderr_message.h"
#include "session/life/live_run.h"
#include "session/limits/measure_limits.h"
#include "session/options/selection_options.h"
#include "session/options/validators.h"
#include "session/plan/select_trials.h"
#include "session/process/exit_code.h"

namespace assay::cli {
namespace {

struct LimitsOptions {
  SelectionOptions selection;
  std::filesystem::path csv;
  double timeout_s = 120;
  bool json = false;
  bool quiet = false;
  bool wait = false;
};

void print_json(const std::vector<Limit>& limits) {
  nlohmann::json document{{"schema", 1}, {"limits", nlohmann::json::array()}};
  for (const Limit& limit : limits) document["limits"].push_back(fields_to_json(limit));
  show_data(document.dump(2) + "\n");
}

/// Skips limits that a device cannot have; if all are skipped, nothing was measured.
ExitCode exit_code_of(const std::vector<Limit>& limits, bool completed) {
  const auto count = [&](StatusClass of_class) {
    return std::ranges::count_if(
        limits, [&](const Limit& limit) { return class_of(limit.status) == of_class; });
  };
  return assay::exit_code_of(Ending{.any_wrong = count(StatusClass::wrong) > 0,
                                    .any_broken = count(StatusClass::broken) > 0,
                                    .completed = completed,
                                    .any_right = count(StatusClass::right) > 0});
}

int execute(const LimitsOptions& options) {
  check_simulated(options.selection);
  std::optional<OutputFile> csv;
  if (!options.csv.empty()) csv.emplace("--csv", options.csv);
  const bool is_taken = csv && csv->is_standard_output();
  if (is_taken && options.json) {
    throw UsageError("--csv and --json: standard output takes one of them");
  }
  LiveRun live = probe_run(options.selection);
  const RunInfo& run = live.run;
  check_stand_ins(options.selection, run.devices);
  const LimitPlan plan = plan_limits(run.devices, live.backends);
  live.begin(options.wait);

  if (csv) csv->write(header_line<Limit>());
  std::vector<Limit> limits;
  SupervisorOptions supervision = live.supervision(options.selection, limit_cap_s);
  supervision.timeout_s = options.timeout_s;
  const PlanEnd end =
      measure_limits(plan, run, std::move(supervision), [&](const Limit& limit, const Record&) {
        limits.push_back(limit);
        if (csv) csv->write(row_line(limit));
        if (!options.quiet) {
          say("[{}/{}] {} {}\n", limits.size(), plan.trials.size(), limit.device,
              name(limit.limit));
        }
      });
  if (csv) csv->close();
  if (options.json) {
    print_json(limits);
  } else if (!is_taken) {
    show_text(limits_table(limits));
  }
  return exit_code_of(limits, end == PlanEnd::completed);
}

}  // namespace

Command add_limits(CLI::App& program) {
  auto options = std::make_shared<LimitsOptions>();
  CLI::App* app = program.add_subcommand(
      "limits", "measure the ceilings of every figure: memory, matrix units, links, launches");
  add_device_options(*app, options->selection);
  add_stand_ins_option(*app, options->selection);
  add_timeout_option(*app, options->timeout_s, "limit for one case");
  app->add_option("--csv", options->csv, "write the rows, as in limits.csv of a run")
      ->check(not_empty())
      ->type_name("FILE");
  app->add_flag("--json", options->json, "print JSON on standard output");
  app->add_flag("--quiet", options->quiet, "show no progress");
  app->add_flag("--wait", options->wait, "wait for a device that another run holds");
  app->footer(
      R"(Each limit is the rate of one case, verified like any other and measured by the same rules. The
best of several cases of a limit counts. 'assay run' measures those that its trials need.

Examples:
  assay limits                                 the CPU and every GPU
  assay limits --device cpu --threads 1        one core
  assay limits --device cuda:0 --csv h100.csv)");
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
