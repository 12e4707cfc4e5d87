#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "assay/version.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/say.h"
#include "kernels/base/names.h"
#include "kernels/base/status.h"

namespace assay::cli {
namespace {

constexpr const char* description =
    "Tells what a device really does: runs tensor ops, Linear layers, transfers and all-reduce on\n"
    "the CPU and every visible GPU, checks every result against an independent reference, "
    "measures\n"
    "it, and writes CSV reports.";

constexpr const char* examples = R"(Examples:
  assay devices                            what is here
  assay list --suite linear                what a run would do
  assay run --profile smoke                verify and measure, a run directory in assay-runs/
  assay selftest                           does it catch what it claims to catch?
  assay run --device cuda --require cuda   a gate for a GPU runner: red without a GPU

Exit codes: 0 all right, 1 a wrong result, 2 usage, 3 no such device or nothing ran,
4 a crash, a time-out or another failure of the machinery.)";

/// A word that no option took: says what it may have been meant to be.
void refuse_extras(const CLI::App& program, const CLI::App& command) {
  const std::vector<std::string> extras = command.remaining();
  if (extras.empty()) return;
  const bool is_option = extras.front().starts_with("-");
  std::vector<std::string> valid;
  if (is_option) {
    for (const CLI::Option* option : command.get_options()) {
      if (!option->get_name().empty()) valid.push_back(option->get_name());
    }
  } else if (&program == &command) {
    for (const CLI::App* subcommand :
         program.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); })) {
      valid.push_back(subcommand->get_name());
    }
  } else {
    throw UsageError(fmt::format("unexpected argument '{}'; see 'assay {} --help'", extras.front(),
                                 command.get_name()));
  }
  throw UsageError(unknown_name(is_option ? "option" : "command",
                                extras.front().substr(0, extras.front().find('=')), valid));
}

int run(int argc, char** argv) {
  CLI::App program(description, "assay");
  program.footer(examples);
  program.set_version_flag("--version", fmt::format("assay {} ({}, {})", version::number,
                                                    version::git_revision, version::build_type));
  program.allow_extras();
  const std::vector<Command> commands{add_run(program), add_list(program), add_devices(program),
                                      add_selftest(program), add_worker(program)};
  for (const Command& command : commands) command.app->allow_extras();
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success);
  } catch (const CLI::ConversionError& error) {  // "Could not convert: --seed = abc"
    throw UsageError(std::string(error.what()) + "; expected a number");
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    refuse_extras(program, *command.app);
    return command.run();
  }
  refuse_extras(program, program);
  cli::say("{}", program.help());
  return usage;
}

}  // namespace
}  // namespace assay::cli

namespace {

/// The first files that a program opens take the lowest free descriptors: with standard error
/// closed, messages would end up in results.csv.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
}

/// An error is one line, whatever the user's text in it holds.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

/// What was asked for is on standard output, or the program has failed.
int checked_output(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  assay::cli::say("assay: standard output could not be written\n");
  return exit_code == assay::cli::ok ? assay::cli::infrastructure : exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace assay;
  occupy_standard_streams();
  // A closed pipe and a file beyond its limit are errors of a write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return checked_output(cli::run(argc, argv));
  } catch (const UsageError& error) {
    cli::say("assay: {}\n", one_line(error.what()));
    return cli::usage;
  } catch (const cli::AbsentDevice& error) {
    cli::say("assay: {}\n", one_line(error.what()));
    return cli::absent;
  } catch (const std::exception& error) {
    cli::say("assay: {}\n", one_line(error.what()));
    return cli::infrastructure;
  }
}
