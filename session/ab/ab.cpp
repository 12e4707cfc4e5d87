#include "session/ab/ab.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/ab/comparison.h"
#include "kernels/core/clock.h"
#include "kernels/core/status.h"
#include "reports/compare/paired_summary.h"
#include "reports/files/atomic_file.h"
#include "reports/files/output_file.h"
#include "reports/files/paired_json.h"
#include "reports/files/table_file.h"
#include "reports/text/si.h"
#include "session/ab/ab_exit_code.h"
#include "session/ab/ab_sides.h"
#include "session/ab/layout_spread.h"
#include "session/ab/margin.h"
#include "session/ab/shown_variables.h"
#include "session/console/say_verdict.h"
#include "session/console/status_line.h"
#include "session/console/stderr_message.h"
#include "session/life/live_run.h"
#include "session/plan/select_trials.h"
#include "session/process/exit_code.h"
#include "session/process/interrupt.h"
#include "session/workers/reference_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ab::Side;

/// Keeps the timed trials: no others can be compared.
std::vector<PlannedTrial> timed_trials(const std::vector<PlannedTrial>& plan,
                                       std::vector<std::string>& notes) {
  std::vector<PlannedTrial> timed;
  std::int64_t untimed = 0;
  std::int64_t skipped = 0;
  for (const PlannedTrial& trial : plan) {
    if (!trial.skip_reason.empty()) {
      ++skipped;
    } else if (trial.timing.empty()) {
      ++untimed;
    } else {
      timed.push_back(trial);
    }
  }
  if (timed.empty()) {
    throw AbsentDevice(fmt::format(
        "none of the {} selected trials is timed: those of profile 'seeds', and small awkward "
        "shapes of others, are only checked",
        plan.size()));
  }
  if (untimed > 0) notes.push_back(fmt::format("{} cases are only checked, never timed", untimed));
  if (skipped > 0) notes.push_back(fmt::format("{} trials cannot run on this machine", skipped));
  return timed;
}

PairedInfo info_of(const RunInfo& run, const ab::Both<AbSide>& sides, const ab::Rule& rule,
                   const Margin& margin) {
  PairedInfo info{.run_id = run.run_id, .host = run.host, .started_at = run.started_at};
  info.command_line = shown_words(run.command_line);
  info.notes = run.notes;
  info.environment = run.environment;
  info.seed = run.seed;
  for (const Side side : {Side::base, Side::cand}) {
    PairedSide& what = side == Side::base ? info.base : info.cand;
    what = sides[side].info;
    for (auto& [name, value] : what.environment) value = shown_value(name, value);
    std::erase_if(what.devices, [&](const DeviceInfo& device) {
      return std::ranges::find(run.devices, device.device, &DeviceInfo::device) ==
             run.devices.end();
    });
    for (const BackendProblem& problem : sides[side].machine.problems) {
      info.notes.push_back(fmt::format("{}: {}", ab::name(side), to_text(problem)));
    }
  }
  info.margin = margin.value;
  info.margin_reason = margin.reason;
  info.screen_rounds = rule.screen_rounds;
  info.screen_p = rule.screen_p;
  info.confirm_rounds = rule.confirm_rounds;
  info.confirm_p = rule.confirm_p;
  info.samples = rule.samples;
  return info;
}

/// Shows how far a comparison is. The number of suspects is known only at the end of the screening,
/// so until then the time left is that of the screening.
class Advance {
 public:
  explicit Advance(bool quiet) : line_(quiet) {}

  void show(const ab::Step& step) {
    if (step.stage != stage_) {
      stage_ = step.stage;
      began_s_ = steady_s();
      line_.erase();
      if (!line_.quiet()) {
        say("{}: {} rounds of {} cases\n", stage_, step.rounds, step.trials);
      }
    }
    const double part = (static_cast<double>(step.round - 1) +
                         static_cast<double>(step.trial) / static_cast<double>(step.trials)) /
                        step.rounds;
    const double left_s = (steady_s() - began_s_) / part * (1 - part);
    const std::string count = fmt::format("{}: round {}/{}, about {} left", stage_, step.round,
                                          step.rounds, duration_text(std::ceil(left_s)));
    line_.show(part, count, "", count);
  }
  void tell(const PairedRound& round) {
    if (round.reason.empty()) return;
    line_.erase();
    say("{} on {}: {}\n", round.case_id, round.device, round.reason);
  }
  void end() { line_.erase(); }

 private:
  StatusLine line_;
  std::string_view stage_;
  double began_s_ = 0;
};

/// The file of --spread: its content, and with --aa the file to write.
struct SpreadFile {
  std::optional<LayoutSpread> held;
  std::optional<OutputFile> out;
};

SpreadFile open_spread(const AbOptions& options, const std::string& machine) {
  SpreadFile file;
  if (options.spread.empty()) return file;
  if (options.aa) file.out.emplace("--spread", options.spread, spread_begin);
  const bool is_new = !fs::is_regular_file(options.spread) || fs::is_empty(options.spread);
  if (!options.aa || !is_new) file.held = read_spread(options.spread, machine);
  return file;
}

/// Records the noise floor that --aa found. Which case lies badly changes from build to build and
/// from input to input, so a larger spread found earlier stays.
void keep_spread(const ab::Outcome& outcome, const std::string& machine, SpreadFile& file,
                 PairedInfo& info) {
  const std::optional<double> found = spread_of(outcome.cases);
  if (!found) return;
  std::string text =
      *found > 0 ? fmt::format("layout alone changes times by up to {:.2g}% here", *found * 100)
                 : "no effect of layout beyond the margin was found";
  if (file.held && file.held->spread >= *found) {
    text += fmt::format("; {:.2g}% of {} stays recorded", file.held->spread * 100,
                        file.held->recorded_at);
  } else if (file.out) {
    file.out->write(spread_text({*found, info.started_at}, machine));
    file.out->close();
    text += "; recorded in " + file.out->name();
  }
  info.notes.push_back(text);
}

void describe_sides(const PairedInfo& info) {
  for (const Side side : {Side::base, Side::cand}) {
    const PairedSide& what = side == Side::base ? info.base : info.cand;
    std::string text =
        fmt::format("{}: {}, build {}", ab::name(side), what.program.string(), what.build_id);
    for (const auto& [name, value] : what.environment) text += fmt::format(", {}={}", name, value);
    if (!what.kernels.empty()) {
      text += fmt::format(", kernels of {}: {}", what.kernels, what.kernels_name);
    }
    for (const std::string& fault : what.sim_faults) text += ", with the fault " + fault;
    say("{}\n", text);
  }
  say("margin: {:.3g}%: {}\n", info.margin * 100, info.margin_reason);
}

/// Compares the sides and writes rounds.csv, round by round.
ab::Outcome take_rounds(const AbOptions& options, const ab::Both<AbSide>& sides,
                        const ab::Rule& rule, const std::vector<PlannedTrial>& plan,
                        const RunInfo& run) {
  TableFile<PairedRound> rounds(run.directory / "rounds.csv");
  // Each side has its own: an uncommitted edit may change references without a new build id.
  // None where kernels of others could read them.
  const bool has_references = !has_foreign_kernels(sides);
  const ReferenceFolder base_references(run.directory, ".references-base", has_references);
  const ReferenceFolder cand_references(run.directory, ".references-cand", has_references);
  Advance advance(options.quiet);
  ab::Outcome outcome =
      ab::compare(plan, {.rule = rule,
                         .commands = {sides.base.worker(rule.samples, base_references.path()),
                                      sides.cand.worker(rule.samples, cand_references.path())},
                         .devices = run.devices,
                         .timeout_s = options.timeout_s,
                         .seed = options.selection.seed,
                         .interrupted = interrupted,
                         .round =
                             [&](const PairedRound& round) {
                               rounds.add(round);
                               advance.tell(round);
                             },
                         .step = [&](const ab::Step& step) { advance.show(step); }});
  advance.end();
  return outcome;
}

/// Writes the files of a comparison that has ended, and shows them. The first `said` notes were
/// shown before.
void report_results(const PairedInfo& info, const ab::Outcome& outcome, std::size_t said) {
  write_atomically(info.directory / "ab.csv", write_table(outcome.cases));
  write_atomically(info.directory / "ab.md", paired_markdown(info, outcome.cases));
  write_atomically(info.directory / "ab.json", paired_json(info, true));
  show_text(paired_table(outcome.cases));
  for (std::size_t i = said; i < info.notes.size(); ++i) say("note: {}\n", info.notes[i]);
  const auto [word, why] = paired_verdict_parts(info, outcome.cases);
  say_verdict(word, why);
  say("{}\n", (info.directory / "ab.csv").string());
}

}  // namespace

int compare_builds(const AbOptions& options) {
  ab::Rule rule = rule_of(options);
  ab::Both<AbSide> sides = sides_of(options);
  check_faults(sides);
  const SelectedTrials selected = select_trials(sides.cand.selection, [&] {
    probe_side(Side::base, sides.base);
    probe_side(Side::cand, sides.cand);
    protocol::Hello machine = sides.cand.machine;
    machine.kernels = common(sides.base.machine.kernels, sides.cand.machine.kernels);
    return machine;
  });
  check_same_devices(sides, selected.devices);
  LiveRun live = live_run(options.selection, selected.machine, selected.devices);
  RunInfo& run = live.run;
  check_stand_ins(options.selection, run.devices);
  check_processes(run.devices);
  const std::string machine = machine_of(run.host, run.devices);
  SpreadFile spread = open_spread(options, machine);
  const Margin margin = margin_of(options, sides, spread.held);
  rule.margin = margin.value;
  PairedInfo info = info_of(run, sides, rule, margin);
  const std::vector<PlannedTrial> plan = timed_trials(selected.plan, info.notes);
  info.planned = std::ssize(plan);
  ab::check(rule, info.planned);
  live.begin(options.wait);
  live.make_directory(options.out, "assay-ab", false);
  info.directory = run.directory;

  write_atomically(info.directory / "ab.json", paired_json(info, false));
  if (!options.quiet) describe_sides(info);
  for (const std::string& note : selected.notes) say("note: {}\n", note);
  const ab::Outcome outcome = take_rounds(options, sides, rule, plan, run);

  if (options.aa && !outcome.interrupted) keep_spread(outcome, machine, spread, info);
  info.ended_at = utc_now();
  info.interrupted = outcome.interrupted;
  info.wall_s = session_s();
  info.exit_code = exit_code_of(outcome, options.fail_on_inconclusive);
  report_results(info, outcome, run.notes.size());
  return info.exit_code;
}

}  // namespace assay
