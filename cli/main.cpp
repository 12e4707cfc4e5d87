#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/program.h"
#include "kernels/core/status.h"
#include "kernels/device/launch_info.h"
#include "session/console/stderr_message.h"
#include "session/kernels/kernel_process.h"
#include "session/process/exit_code.h"

namespace assay::cli {
namespace {

constexpr const char* description =
    "Tells what a device really does: runs tensor ops, Linear layers, transfers and collectives "
    "on\n"
    "the CPU and every visible GPU, checks every result against an independent reference, "
    "measures\n"
    "it, and writes CSV reports.";

constexpr const char* examples = R"(Examples:
  assay devices                            the devices of this machine
  assay list --suite linear                the trials of a run
  assay run --profile smoke                verify and measure, a run directory in assay-runs/
  assay limits                             the ceilings of this machine's figures
  assay compare assay-runs/A assay-runs/B  what changed between two stored runs
  assay history assay-runs                 what changed from run to run
  assay libraries own onednn openblas      which library is right, and how fast
  assay machines h100 a100                 which hardware is how fast, and what is an outlier
  assay selftest                           does it catch what it claims to catch?
  assay ab --base old/bin/assay            is this build slower than that one?
  assay soak --for 8h                      is every bit right after hours of full load?
  assay bisect --versions lib-* -- --suite linear      which version of a library turned wrong?
  assay run --device cuda --require cuda   a gate for a GPU runner: red without a GPU

Exit codes: 0 all right, 1 a wrong result, 2 a usage error, 3 no such device or nothing ran,
4 a crash, a time-out or another failure of the machinery, 5 a confirmed regression,
6 no case decided, with ab --fail-on-inconclusive.)";

/// Which processes of a launcher's job do a command's work.
enum class Ranks { all, first, none };

Ranks ranks_of(const std::string& command) {
  if (command == "run" || command == "worker") return Ranks::all;
  for (const char* reader :
       {"devices", "list", "compare", "history", "libraries", "machines", "report"}) {
    if (command == reader) return Ranks::first;
  }
  return Ranks::none;
}

/// Returns whether this process does the command's work. Throws UsageError if each rank would do it
/// alone.
bool is_ours(const std::string& command) {
  const auto launch = launch_info();
  if (!launch) return true;
  const Ranks ranks = ranks_of(command);
  if (ranks == Ranks::none) {
    throw UsageError(
        fmt::format("assay {}: not under {}: each rank would do it alone; use 'assay run' in jobs",
                    command, launch->launcher));
  }
  return ranks == Ranks::all || launch->rank == 0;
}

/// Takes the words behind the first `--` away. CLI11 would give some of them to another command.
std::vector<std::string> take_rest(std::vector<std::string>& words) {
  const auto mark = std::ranges::find(words, "--");
  if (mark == words.end()) return {};
  std::vector<std::string> rest(mark + 1, words.end());
  words.erase(mark, words.end());
  return rest;
}

int run(int argc, char** argv) {
  CLI::App program(description, "assay");
  program.footer(examples);
  add_version(program);
  program.add_flag_callback(
      "--include-dir", [] { throw CLI::CallForVersion(include_folder().string(), ok); },
      "Display the folder of assay_kernel.h, for compilers, and exit");
  program.allow_extras();
  const std::vector<Command> commands{
      add_run(program),      add_list(program),    add_devices(program),
      add_limits(program),   add_ab(program),      add_bisect(program),
      add_compare(program),  add_history(program), add_libraries(program),
      add_machines(program), add_report(program),  add_selftest(program),
      add_soak(program),     add_worker(program),  add_serve_kernels(program)};
  for (const Command& command : commands) command.app->allow_extras();
  std::vector<std::string> words(argv + 1, argv + argc);
  for (const Command& command : commands) {
    const bool is_called = !words.empty() && words.front() == command.app->get_name();
    if (is_called && command.rest != nullptr) *command.rest = take_rest(words);
  }
  if (const auto code = parse(program, std::move(words))) return *code;
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    refuse_extras(*command.app, "assay " + command.app->get_name());
    refuse_extras(program, "assay");  // behind a `--` that the command does not know
    return is_ours(command.app->get_name()) ? command.run() : ok;
  }
  refuse_extras(program, "assay");
  say_text(program.help());
  return usage;
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  return assay::cli::run_program("assay", [&] { return assay::cli::run(argc, argv); });
}
