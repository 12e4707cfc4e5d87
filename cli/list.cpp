#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/selection_flags.h"
#include "harness/records/claims.h"
#include "kernels/core/names.h"
#include "reports/text/si.h"
#include "session/console/stderr_message.h"
#include "session/kernels/own_ops.h"
#include "session/limits/measure_limits.h"
#include "session/options/selection_options.h"
#include "session/plan/estimate.h"
#include "session/plan/select_trials.h"
#include "session/process/exit_code.h"
#include "suites/boundaries.h"

namespace assay::cli {
namespace {

void print_json(const std::vector<PlannedTrial>& plan) {
  using nlohmann::ordered_json;
  ordered_json trials = ordered_json::array();
  for (const PlannedTrial& trial : plan) {
    ordered_json params = ordered_json::object();
    for (const auto& [name, value] : trial.test.op.params.entries()) {
      std::visit([&, &key = name](const auto& v) { params[key] = v; }, value);
    }
    trials.push_back({{"case_id", trial.test.id()},
                      {"suite", trial.test.suite},
                      {"op", trial.test.op.op->name},
                      {"dtype", name(trial.test.op.format)},
                      {"params", params},
                      {"device", lane_text(trial)},
                      {"timing", trial.timing}});
  }
  show_data(ordered_json{{"schema", 1}, {"trials", trials}}.dump(1) + "\n");
}

/// Ops that kernels of others may be of. Inputs come in the order of the formula.
int list_ops(const SelectionOptions& options) {
  define_own_ops(options);
  for (const Op& op : op_table()) {
    if (!may_be_offered(op)) continue;
    std::vector<std::string> dtypes;
    for (const Format format : op.formats) dtypes.emplace_back(name(format));
    std::vector<std::string> parameters;
    for (const Parameter& parameter : op.parameters) parameters.emplace_back(parameter.name);
    show("{}  {}\n    {}\n    parameters: {}\n", op.name, join(dtypes, ","), op.formula,
         join(parameters, ", "));
  }
  return ok;
}

/// Prints the boundaries of shapes that the plan meets, a line each, with the reason.
int list_coverage(const SelectedTrials& selected) {
  std::vector<Case> cases;
  for (const PlannedTrial& trial : selected.plan) cases.push_back(trial.test);
  bool is_whole = true;
  for (const Coverage& op : coverage(cases)) {
    show("{}/{}", op.suite, op.op);
    if (op.pairs > 0) show("  {} of {} pairs", op.pairs_met, op.pairs);
    show("\n");
    for (const Coverage::Value& value : op.values) {
      show("  {:>5}={:<6} {:4} trials  {}\n", value.parameter, value.boundary.value, value.cases,
           value.boundary.reason);
      is_whole = is_whole && value.cases > 0;
    }
    is_whole = is_whole && op.pairs_met == op.pairs;
  }
  std::fflush(stdout);
  say("{}\n", is_whole ? "each boundary is met, and each two of different parameters together"
                       : "some boundaries are not met by this selection");
  return ok;
}

int execute(const SelectionOptions& options, bool json) {
  const SelectedTrials selected = select_trials(options);
  if (json) {
    print_json(selected.plan);
    return ok;
  }
  for (const PlannedTrial& trial : selected.plan) {
    const std::string_view claim = claim_of(trial.test.suite, trial.test.op.op->name);
    show("{}  {}{}{}\n", lane_text(trial), trial.test.id(),
         claim.empty() ? "" : fmt::format("  {}", claim),
         trial.skip_reason.empty() ? "" : "  (skip: " + trial.skip_reason + ")");
  }
  std::fflush(stdout);  // before the summary on standard error
  const Profile& profile = find_profile(options.cases.profile);
  std::string text =
      fmt::format("{} trials, about {} here", selected.plan.size(),
                  duration_text(std::ceil(estimate_s(selected.plan, profile.cap_s))));
  const LimitPlan limits = plan_limits(
      selected.machine.devices, selected.machine.backends,
      {.trials = selected.plan, .measured = {}, .own_kernels = options.kernels.empty()});
  if (profile.measures_limits && !limits.trials.empty()) {
    text += fmt::format("; {} limits before them, about {}", limits.trials.size(),
                        duration_text(std::ceil(estimate_s(limits.trials, limit_cap_s))));
  }
  say("{}\n", text);
  for (const std::string& note : selected.notes) say("note: {}\n", note);
  return ok;
}

}  // namespace

Command add_list(CLI::App& program) {
  struct Options {
    SelectionOptions selection;
    bool json = false;
    bool ops = false;
    bool coverage = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("list", "show the trials that a run would take");
  CLI::Option* json = app->add_flag("--json", options->json, "print JSON on standard output");
  CLI::Option* ops =
      app->add_flag("--ops", options->ops,
                    "the ops that kernels of others may have (--kernels), with their formulas");
  app->add_flag("--coverage", options->coverage,
                "the boundaries of shapes that the trials meet, and why they are boundaries")
      ->excludes(json)
      ->excludes(ops);
  add_selection_options(*app, options->selection);
  add_timing_options(*app, options->selection);
  return {app, [options] {
            if (options->coverage) return list_coverage(select_trials(options->selection));
            return options->ops ? list_ops(options->selection)
                                : execute(options->selection, options->json);
          }};
}

}  // namespace assay::cli
