#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "harness/records/csv.h"
#include "harness/records/fields_text.h"
#include "harness/supervise/supervisor.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/device/driver_mode.h"
#include "kernels/sim/traits.h"
#include "reports/files/output_file.h"
#include "session/console/stderr_message.h"
#include "session/kernels/own_ops.h"
#include "session/machine/device_list.h"
#include "session/options/validators.h"
#include "session/process/exit_code.h"
#include "session/selftest/fault_catalogue.h"
#include "session/selftest/felt.h"
#include "session/selftest/own_op_tricks.h"
#include "session/selftest/selftest_run.h"
#include "session/workers/worker_command.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr int full_seeds = 5;
/// A busy machine mostly is calmer some seconds later, or else some minutes: what passes there is
/// taken again soon, and if need be behind all other faults.
constexpr int soon_takes = 3;
constexpr std::chrono::seconds soon{1};
constexpr int late_takes = 12;
constexpr std::chrono::seconds late{10};

struct Options {
  fs::path csv = "assay-selftest.csv";
  std::string only;
  std::string device = sim::traits().kind;
  bool checks = false;
  bool felt = false;
  bool own_ops = false;
  Selection cases = {.profile = "smoke"};  // of --felt
  bool full = false;
};

int expected_exit(Status status) {
  if (status == Status::pass) return ok;
  return class_of(status) == StatusClass::wrong ? wrong : infrastructure;
}

std::string no_row(const Outcome& outcome) {
  return fmt::format("no row, exit code {}: {}", outcome.exit_code, outcome.said);
}

/// Returns why the outcome is not the one that the pairing demands; empty if it is.
std::string objection(const Pairing& pairing, const Outcome& outcome) {
  if (outcome.row() == nullptr) return no_row(outcome);
  const Record& row = *outcome.row();
  if (row.status != pairing.status) {
    return fmt::format("{} and not {}: {}", name(row.status), name(pairing.status), row.reason);
  }
  const bool is_said =
      row.reason.find(pairing.reason) != std::string::npos ||
      (row.status == Status::pass && row.oracle.find(pairing.reason) != std::string::npos);
  if (!is_said) {
    return fmt::format("the reason lacks '{}': {}", pairing.reason, row.reason);
  }
  if (outcome.exit_code != expected_exit(pairing.status)) {
    return fmt::format("exit code {} and not {}", outcome.exit_code, expected_exit(pairing.status));
  }
  if (pairing.status == Status::fail && row.time_median_s) return "wrong, and yet it has times";
  return "";
}

using Cells = std::vector<std::string>;
const Cells header{"fault",     "case_id", "verdict", "caught_by", "status",
                   "exit_code", "reason",  "seed",    "caught_on"};
const Cells head{"fault", "case", "verdict", "caught by", "status", "exit", "", "", ""};

/// Returns the cells of a row below `header`.
Cells cells_of(std::string_view fault, const Pairing& pairing, std::string_view verdict,
               const Outcome& outcome, int seed) {
  const Record none{.reason = no_row(outcome)};
  const Record& row = outcome.row() != nullptr ? *outcome.row() : none;
  return {std::string(fault),
          std::string(pairing.case_id),
          std::string(verdict),
          to_cell(row.caught_by),
          outcome.row() != nullptr ? to_cell(row.status) : "",
          std::to_string(outcome.exit_code),
          row.reason,
          std::to_string(seed),
          row.caught_on};
}

/// Returns the checks that, each switched off alone, would let the row pass: for a special value
/// judged bit for bit, `exact` and `special_values`.
std::vector<Check> checks_behind(const Record& row) {
  if (!row.caught_by) return {};
  std::vector<Check> checks{*row.caught_by};
  const bool is_rule = *row.caught_by < Check::special_values;
  if (is_rule && row.caught_on == name(Check::special_values)) {
    checks.push_back(Check::special_values);
  }
  return checks;
}

class Selftest {
 public:
  Selftest(std::string device, std::string fault_variable, OutputFile csv)
      : device_(std::move(device)),
        fault_variable_(std::move(fault_variable)),
        csv_(std::move(csv)) {}

  /// Runs the same cases on a device without faults, and on odd devices that are not wrong: none
  /// may be flagged.
  void right_device(std::span<const Pairing> pairings, int seed) {
    std::set<std::tuple<std::string_view, std::string_view, int, bool>> seen;
    for (const Pairing& pairing : pairings) {
      if (pairing.status == Status::pass) odd_device(pairing, seed);
      const auto& [fault, id, reason, status, run_options, devices, is_cheat, runs, is_own_op] =
          pairing;
      if (!seen.emplace(id, run_options, devices, is_cheat).second) continue;
      const Outcome outcome =
          run_case(pairing, {.seed = seed, .device = device_, .fault_variable = fault_variable_});
      const Record* row = outcome.row();
      const bool passed = outcome.exit_code == ok && row != nullptr && row->status == Status::pass;
      add(cells_of("none", pairing, passed ? "passed" : "FALSE ALARM", outcome, seed), passed);
      passed ? ++passed_ : ++alarms_;
    }
  }

  void faulty_device(std::span<const Pairing> pairings, int seed) {
    for (const Pairing& pairing : pairings) {
      if (pairing.status == Status::pass) continue;
      if (!take(pairing, seed, soon_takes, soon)) undecided_.emplace_back(&pairing, seed);
    }
  }

  /// Those that passed while others used the cores. The last take counts.
  void undecided_faults() {
    for (const auto& [pairing, seed] : undecided_) {
      if (!take(*pairing, seed, late_takes, late)) miss(*pairing, seed);
    }
  }

  void begin() const { show_row(head); }

  /// Returns the faults that checks caught, each under those that would let it pass.
  const std::map<Check, std::vector<Pairing>>& caught_by() const { return caught_by_; }

  /// Returns the output for people: standard output, unless the rows take it.
  std::FILE* screen() const { return csv_.is_standard_output() ? stderr : stdout; }

  int end() {
    std::string text = csv_line(header) + "\n";
    for (const Cells& row : rows_) text += csv_line(row) + "\n";
    csv_.write(text);
    csv_.close();
    // Once more at the end: among hundreds of rows a bad one is not seen.
    say_text(bad_);
    if (taken_again_ > 0) {
      say("{} runs passed while others used the cores, and did not count\n", taken_again_);
    }
    say("{} of {} faults caught, {} of {} right devices not flagged\n{}\n", caught_,
        caught_ + missed_, passed_, passed_ + alarms_, csv_.name());
    return missed_ + alarms_ == 0 && caught_ + passed_ > 0 ? ok : wrong;
  }

 private:
  /// Runs a fault, again after a pause as long as it passes while others use the cores: a trial has
  /// few launches then, and a fault of some may spare them. Returns false if it did each time.
  bool take(const Pairing& pairing, int seed, int takes, std::chrono::seconds pause) {
    for (int i = 0; i < takes; ++i) {
      if (i > 0 || pause == late) std::this_thread::sleep_for(pause);
      last_ = run_case(pairing, {.fault = pairing.fault,
                                 .seed = seed,
                                 .device = device_,
                                 .fault_variable = fault_variable_});
      const std::string why = objection(pairing, last_);
      const Record* row = last_.row();
      const bool was_busy =
          row != nullptr && row->status == Status::pass && row->contended.value_or(false);
      if (why.empty() || !was_busy) {
        add(cells_of(pairing.fault, pairing, why.empty() ? "caught" : "MISSED", last_, seed),
            why.empty(), why);
        why.empty() ? ++caught_ : ++missed_;
        if (why.empty() && pairing.status == Status::fail) {  // not by supervision
          for (const Check check : checks_behind(*row)) caught_by_[check].push_back(pairing);
        }
        return true;
      }
      ++taken_again_;
    }
    return false;
  }

  void miss(const Pairing& pairing, int seed) {
    const std::string why = fmt::format("{}on each of {} takes, while others used the cores",
                                        objection(pairing, last_), soon_takes + late_takes);
    add(cells_of(pairing.fault, pairing, "MISSED", last_, seed), false, why);
    ++missed_;
  }

  void odd_device(const Pairing& pairing, int seed) {
    const Outcome outcome = run_case(pairing, {.fault = pairing.fault,
                                               .seed = seed,
                                               .device = device_,
                                               .fault_variable = fault_variable_});
    const std::string why = objection(pairing, outcome);
    add(cells_of(pairing.fault, pairing, why.empty() ? "passed" : "FALSE ALARM", outcome, seed),
        why.empty(), why);
    why.empty() ? ++passed_ : ++alarms_;
  }

  void add(Cells row, bool well, const std::string& why = "") {
    show_row(row);
    if (!well) {
      const std::string& reason = why.empty() ? row[6] : why;
      show(screen(), "    {}\n", reason);
      bad_ += fmt::format("{}: {} on {}: {}\n", row[2], row[0], row[1], reason);
    }
    std::fflush(screen());
    rows_.push_back(std::move(row));
  }

  void show_row(const Cells& row) const {
    const std::string by = row[8].empty() ? row[3] : row[3] + " on " + row[8];
    show(screen(), "{:<26}  {:<58}  {:<11}  {:<34}  {:<11}  {}\n", row[0], row[1], row[2], by,
         row[4], row[5]);
  }

  std::string device_;
  std::string fault_variable_;
  OutputFile csv_;
  std::vector<Cells> rows_;
  std::string bad_;  // lines on what was missed or flagged
  int caught_ = 0;
  int missed_ = 0;
  int passed_ = 0;
  int alarms_ = 0;
  int taken_again_ = 0;
  std::map<Check, std::vector<Pairing>> caught_by_;
  std::vector<std::pair<const Pairing*, int>> undecided_;  // and seed
  Outcome last_;
};

/// Switches each check off in turn, and lists the faults of its own that then pass, as no other
/// check catches them. A check without such faults is redundant, as far as this catalogue goes.
int run_without_checks(std::map<Check, std::vector<Pairing>> caught, std::FILE* screen) {
  std::vector<std::string_view> redundant;
  for (const Check check : optional_checks()) {
    const std::vector<Pairing>& by_it = caught[check];
    std::vector<std::string> slipped;
    for (const Pairing& pairing : by_it) {
      const Outcome outcome = run_case(pairing, {.fault = pairing.fault, .without = name(check)});
      if (outcome.row() != nullptr && outcome.row()->status == Status::pass) {
        slipped.push_back(fmt::format("{} on {}", pairing.fault, pairing.case_id));
      }
    }
    show(screen, "without {:<18}  {:>2} of the {:>2} that it caught slip  {}\n", name(check),
         slipped.size(), by_it.size(), slipped.empty() ? "redundant" : slipped.front());
    for (std::size_t i = 1; i < slipped.size(); ++i) show(screen, "{:61}{}\n", "", slipped[i]);
    std::fflush(screen);
    if (slipped.empty()) redundant.push_back(name(check));
  }
  say("{} of {} checks let nothing slip when they are off{}{}\n", redundant.size(),
      optional_checks().size(), redundant.empty() ? "" : ": ",
      fmt::format("{}", fmt::join(redundant, ", ")));
  return redundant.empty() ? ok : wrong;
}

/// Runs all small cases of each suite with each fault of data or place, and prints how many fail. A
/// case that passes is not concerned, or stays within its declared error: a low bit of an exp. A
/// device without a fault must fail none.
int print_matrix(std::span<const Pairing> pairings, int seed, std::FILE* screen) {
  std::vector<std::string_view> faults{""};
  for (const Pairing& pairing : pairings) {
    const bool once = std::ranges::find(faults, pairing.fault) == faults.end();
    const bool is_device = pairing.status == Status::fail && !pairing.is_cheat;
    if (is_device && once) faults.push_back(pairing.fault);
  }
  show(screen, "\nfailed of all cases of the profile `seeds` on two simulated devices, seed {}\n",
       seed);
  int alarms = 0;
  for (const std::string_view fault : faults) {
    const Outcome outcome =
        run_injected(2, {.fault = fault, .seed = seed}, {"--profile", "seeds", "--check-only"});
    std::map<std::string, std::pair<int, int>> failed_of;
    for (const Record& row : outcome.rows) {
      // A case into which a fault cannot be injected ends as an error.
      const bool is_wrong = class_of(row.status) == StatusClass::wrong;
      if (row.status != Status::pass && !is_wrong) continue;
      auto& [failed, all] = failed_of[row.suite];
      ++all;
      failed += is_wrong ? 1 : 0;
    }
    show(screen, "{:<26}", fault.empty() ? "none" : fault);
    for (const auto& [suite, counts] : failed_of) {
      show(screen, "  {} {:>4} of {:<4}", suite, counts.first, counts.second);
      if (fault.empty()) alarms += counts.first;
    }
    show(screen, "\n");
    std::fflush(screen);
    if (failed_of.empty() || (fault.empty() && outcome.exit_code != ok)) ++alarms;
  }
  return alarms == 0 ? ok : wrong;
}

/// Refuses a device whose faults would end the work of other processes.
void check_alone(const DeviceId& id, const protocol::Hello& machine) {
  const auto device = std::ranges::find(machine.devices, to_text(id), &DeviceInfo::device);
  if (device == machine.devices.end() || !driver_mode::is(*device, driver_mode::mps)) return;
  throw UsageError(to_text(id) +
                   " is shared by MPS, where a fault of one process ends the work of the others: "
                   "stop its control daemon first (echo quit | nvidia-cuda-mps-control)");
}

/// Returns the environment variable that injects faults into the device; empty for simulated ones,
/// which have an option. Throws AbsentDevice if it is not here, UsageError if it takes no faults,
/// or if others would get them too.
std::string fault_variable_of(const std::string& device) {
  if (device == sim::traits().kind) return "";
  const protocol::Hello machine = probe(worker_command({}));
  std::string variable;
  for (const DeviceId& id : resolve_devices({device}, machine)) {
    variable = traits_of(machine.backends, id.backend).fault_variable;
    check_alone(id, machine);
    if (!variable.empty()) continue;
    throw UsageError(
        "--device: faults are injected into simulated devices (sim) and into a GPU "
        "(cuda:0), not into " +
        to_text(id));
  }
  return variable;
}

std::vector<Pairing> chosen_pairings(const Options& options) {
  const bool is_simulated = options.device == sim::traits().kind;
  const auto catalogue = options.own_ops ? tricks_on_own_ops()
                         : is_simulated  ? fault_catalogue()
                                         : gpu_fault_catalogue();
  std::vector<Pairing> pairings;
  std::vector<std::string> names;  // each once, though several cases may show a fault
  for (const Pairing& pairing : catalogue) {
    if (std::ranges::find(names, pairing.fault) == names.end()) names.emplace_back(pairing.fault);
    if (options.only.empty() || pairing.fault == options.only) pairings.push_back(pairing);
  }
  if (pairings.empty()) throw UsageError("--only: " + unknown_name("fault", options.only, names));
  return pairings;
}

int execute(const Options& options) {
  if (options.felt) return execute_felt(options.cases, options.csv);
  const std::vector<Pairing> pairings = chosen_pairings(options);
  if (options.own_ops) {  // or says why they cannot be
    TrialOptions needed;
    needed.own_ops = own_ops_file().string();
    define_own_ops(needed);
  }
  const std::string fault_variable = fault_variable_of(options.device);
  Selftest selftest(options.device, fault_variable,
                    OutputFile("--csv", options.csv, first_columns(header)));
  selftest.begin();
  for (int seed = 1; seed <= (options.full ? full_seeds : 1); ++seed) {
    selftest.faulty_device(pairings, seed);
    selftest.right_device(pairings, seed);
  }
  selftest.undecided_faults();
  int result = selftest.end();
  if (options.checks)
    result = std::max(result, run_without_checks(selftest.caught_by(), selftest.screen()));
  return options.full ? std::max(result, print_matrix(pairings, 1, selftest.screen())) : result;
}

}  // namespace

Command add_selftest(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "selftest", "injects faults into simulated devices, or a GPU, and shows which are caught");
  app->add_option("--csv", options->csv,
                  "where the table goes too; an older one is replaced; - is standard output")
      ->check(not_empty())
      ->type_name("FILE")
      ->capture_default_str();
  CLI::Option* only =
      app->add_option("--only", options->only, "one fault alone")->type_name("FAULT");
  CLI::Option* device =
      app->add_option("--device", options->device,
                      "sim: simulated devices; a GPU, as cuda:0: real faults on it")
          ->type_name("ID")
          ->capture_default_str();
  CLI::Option* full =
      app->add_flag("--full", options->full,
                    "with five seeds, and each fault on all small cases of each suite")
          ->excludes(device);
  CLI::Option* checks =
      app->add_flag("--checks", options->checks,
                    "then switch each check off in turn: which faults does it alone catch?")
          ->excludes(device)
          ->excludes(full);
  CLI::Option* felt =
      app->add_flag("--felt", options->felt,
                    "misread single elements of inputs on the CPU: how often does a case fail?")
          ->excludes(device)
          ->excludes(only)
          ->excludes(full)
          ->excludes(checks);
  app->add_flag("--own-ops", options->own_ops,
                "tricks of kernels alone, on ops that a file of references defines; needs NumPy")
      ->excludes(device)
      ->excludes(full)
      ->excludes(checks)
      ->excludes(felt);
  app->add_option("--profile", options->cases.profile, "cases of --felt")
      ->needs(felt)
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--filter", options->cases.filter, "those of them whose id this regex finds")
      ->needs(felt)
      ->type_name("REGEX");
  app->footer(R"(Examples:
  assay selftest                    every fault on the case on which it must show
  assay selftest --full             with five seeds, and on all small cases: some minutes
  assay selftest --checks           and what each check is there for
  assay selftest --only low_bit     one of them
  assay selftest --felt             what if a kernel reads one element wrongly? some minutes
  assay selftest --own-ops          what do kernels get away with if an op is yours?
  assay selftest --device cuda:0    out of bounds, trapped, endless, out of memory, a flipped bit:
                                    real ones, on a GPU that nobody else needs

Exit codes: 0 every fault was caught and no right device was flagged, or every element was felt, 1
otherwise; 3 no such GPU.)");
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
