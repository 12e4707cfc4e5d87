#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <system_error>
#include <tuple>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/fault_catalogue.h"
#include "cli/say.h"
#include "harness/csv.h"
#include "harness/run/checks.h"
#include "kernels/base/names.h"
#include "kernels/base/status.h"
#include "kernels/sim/fault.h"
#include "reports/atomic_file.h"
#include "reports/results_reader.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path csv = "assay-selftest.csv";
  std::string only;
  bool checks = false;
};

/// A folder that is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "assay-selftest-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Runs this very program with its output in `log`. Returns its exit code, or 128 and the signal.
int run_self(std::vector<std::string> arguments, const fs::path& log) {
  arguments.insert(arguments.begin(), fs::read_symlink("/proc/self/exe").string());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::system_error(error, std::generic_category(), argv[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// What a run of one case came to.
struct Outcome {
  int exit_code = 0;
  std::optional<Record> row;
};

/// `fault` is empty for the right device, `without` when all checks are on.
Outcome run_case(const Pairing& pairing, std::string_view fault, std::string_view without = "") {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"run",           "--quiet",
                                     "--device",      "sim",
                                     "--sim-devices", std::to_string(pairing.devices),
                                     "--case",        std::string(pairing.case_id),
                                     "--out",         (folder.path() / "run").string()};
  for (const std::string& word : split(pairing.options, ' ')) arguments.push_back(word);
  if (!fault.empty()) arguments.insert(arguments.end(), {"--sim-fault", std::string(fault)});
  if (!without.empty()) {
    arguments.insert(arguments.end(), {"--without-check", std::string(without)});
  }
  Outcome outcome;
  outcome.exit_code = run_self(arguments, folder.path() / "log");
  const fs::path results = folder.path() / "run/results.csv";
  if (!fs::exists(results)) return outcome;
  const std::vector<Record> rows = read_results_file(results);
  if (rows.size() == 1) outcome.row = rows.front();
  return outcome;
}

int expected_exit(Status status) {
  return class_of(status) == StatusClass::wrong ? wrong : infrastructure;
}

/// The check that a reason speaks of.
std::string caught_by(const Record& row) {
  static const std::array<std::pair<std::regex, std::string>, 8> checks{{
      {std::regex("bytes written"), "guard bands"},
      {std::regex("was overwritten"), "inputs unchanged"},
      {std::regex("ranks disagree"), "agreement of ranks"},
      {std::regex("not repeatable: launch"), "soak"},
      {std::regex("not repeatable"), "last launch"},
      {std::regex("effective bits"), "effective bits"},
      {std::regex("worst of many"), "worst element"},
      {std::regex("correctly rounded value, at most"), "misrounded fraction"},
  }};
  if (row.status == Status::pass) return "";
  if (class_of(row.status) != StatusClass::wrong) return "supervision";
  for (const auto& [pattern, check] : checks) {
    if (std::regex_search(row.reason, pattern)) return check;
  }
  // "exact_data: 3 of 4 elements wrong": the rule of that pass, in "exact_data=exact; ...".
  const std::string pass = row.reason.substr(0, row.reason.find(':'));
  std::smatch rule;
  const std::regex rule_of(pass + "=([a-z_]+)");
  return std::regex_search(row.oracle, rule, rule_of) ? fmt::format("{} on {}", rule.str(1), pass)
                                                      : row.reason;
}

/// Why the outcome is not what the pairing demands; empty when it is.
std::string objection(const Pairing& pairing, const Outcome& outcome) {
  if (!outcome.row) return fmt::format("no row, exit code {}", outcome.exit_code);
  const Record& row = *outcome.row;
  if (row.status != pairing.status) {
    return fmt::format("{} and not {}: {}", name(row.status), name(pairing.status), row.reason);
  }
  if (row.reason.find(pairing.reason) == std::string::npos) {
    return fmt::format("the reason lacks '{}': {}", pairing.reason, row.reason);
  }
  if (outcome.exit_code != expected_exit(pairing.status)) {
    return fmt::format("exit code {} and not {}", outcome.exit_code, expected_exit(pairing.status));
  }
  if (pairing.status == Status::fail && row.time_median_s) return "wrong, and yet it has times";
  return "";
}

using Cells = std::vector<std::string>;
const Cells header{"fault", "case_id", "verdict", "caught_by", "status", "exit_code", "reason"};

class Selftest {
 public:
  /// The same cases on a device without faults: none may be flagged.
  void right_device(std::span<const Pairing> pairings) {
    std::set<std::tuple<std::string_view, std::string_view, int>> seen;
    for (const Pairing& pairing : pairings) {
      if (!seen.emplace(pairing.case_id, pairing.options, pairing.devices).second) continue;
      const Outcome outcome = run_case(pairing, "");
      const bool passed =
          outcome.exit_code == ok && outcome.row && outcome.row->status == Status::pass;
      const std::string why = outcome.row ? outcome.row->reason : "no row";
      add({"none", std::string(pairing.case_id), passed ? "passed" : "FALSE ALARM", "",
           outcome.row ? std::string(name(outcome.row->status)) : "",
           std::to_string(outcome.exit_code), why},
          passed);
      passed ? ++passed_ : ++alarms_;
    }
  }

  void faulty_device(std::span<const Pairing> pairings) {
    for (const Pairing& pairing : pairings) {
      const Outcome outcome = run_case(pairing, pairing.fault);
      const std::string why = objection(pairing, outcome);
      add({std::string(pairing.fault), std::string(pairing.case_id),
           why.empty() ? "caught" : "MISSED", outcome.row ? caught_by(*outcome.row) : "",
           outcome.row ? std::string(name(outcome.row->status)) : "",
           std::to_string(outcome.exit_code), outcome.row ? outcome.row->reason : ""},
          why.empty(), why);
      why.empty() ? ++caught_ : ++missed_;
    }
  }

  int end(const fs::path& path) const {
    std::string text = csv_line(header) + "\n";
    for (const Cells& row : rows_) text += csv_line(row) + "\n";
    write_atomically(path, text);
    say("{} of {} faults caught, {} of {} right devices not flagged\n{}\n", caught_,
        caught_ + missed_, passed_, passed_ + alarms_, path.string());
    return missed_ + alarms_ == 0 && caught_ > 0 ? ok : wrong;
  }

 private:
  void add(Cells row, bool well, const std::string& why = "") {
    fmt::print("{:<18}  {:<58}  {:<11}  {:<30}  {:<11}  {}\n", row[0], row[1], row[2], row[3],
               row[4], row[5]);
    if (!well) fmt::print("    {}\n", why.empty() ? row[6] : why);
    std::fflush(stdout);
    rows_.push_back(std::move(row));
  }

  std::vector<Cells> rows_;
  int caught_ = 0;
  int missed_ = 0;
  int passed_ = 0;
  int alarms_ = 0;
};

/// With each check switched off in turn: which faults slip through as passes? One for which nothing
/// slips is redundant, as far as this catalogue goes.
int execute_without_checks(std::span<const Pairing> pairings) {
  int redundant = 0;
  for (const std::string_view check : check_names()) {
    std::vector<std::string> slipped;
    for (const Pairing& pairing : pairings) {
      const Outcome outcome = run_case(pairing, pairing.fault, check);
      if (outcome.row && outcome.row->status == Status::pass) {
        slipped.push_back(fmt::format("{} on {}", pairing.fault, pairing.case_id));
      }
    }
    fmt::print("without {:<18}  {:>2} of {} slip  {}\n", check, slipped.size(), pairings.size(),
               slipped.empty() ? "redundant" : slipped.front());
    for (std::size_t i = 1; i < slipped.size(); ++i) fmt::print("{:46}{}\n", "", slipped[i]);
    std::fflush(stdout);
    redundant += slipped.empty() ? 1 : 0;
  }
  say("{} of {} checks let nothing slip when they are off\n", redundant, check_names().size());
  return redundant == 0 ? ok : wrong;
}

int execute(const Options& options) {
  std::vector<Pairing> pairings;
  for (const Pairing& pairing : fault_catalogue()) {
    if (options.only.empty() || pairing.fault == options.only) pairings.push_back(pairing);
  }
  if (pairings.empty()) {
    throw UsageError("--only: " + unknown_name("fault", options.only, sim::fault_names()));
  }
  if (options.checks) return execute_without_checks(pairings);
  fmt::print("{:<18}  {:<58}  {:<11}  {:<30}  {:<11}  {}\n", "fault", "case", "verdict",
             "caught by", "status", "exit");
  Selftest selftest;
  selftest.faulty_device(pairings);
  selftest.right_device(pairings);
  return selftest.end(options.csv);
}

}  // namespace

Command add_selftest(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "selftest", "injects faults into simulated devices and shows which are caught");
  app->add_option("--csv", options->csv, "where the table goes too")
      ->type_name("FILE")
      ->capture_default_str();
  app->add_option("--only", options->only, "one fault alone")->type_name("FAULT");
  app->add_flag("--checks", options->checks,
                "switch each check off in turn: which faults does it alone catch?");
  app->footer(R"(Examples:
  assay selftest                    every fault on the case on which it must show
  assay selftest --checks           what each check is there for: some minutes
  assay selftest --only low_bit     one of them

Exit codes: 0 every fault was caught and no right device was flagged, 1 otherwise.)");
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
