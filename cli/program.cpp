#include "cli/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/core/version.h"
#include "session/console/stderr_message.h"
#include "session/process/exit_code.h"

namespace assay::cli {
namespace {

/// Occupies closed standard descriptors: otherwise results.csv could get that of standard error,
/// and its messages.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
}

/// Detects `assay list | head`: a reader that closed the pipe has read enough.
bool has_no_reader() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/// Fails unless all output arrived on standard output.
int checked_output(std::string_view name, int exit_code) {
  std::cout.flush();  // other libraries write there
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return exit_code;
  if (has_no_reader()) return exit_code;
  say("{}: standard output could not be written\n", name);
  return exit_code == ok ? infrastructure : exit_code;
}

}  // namespace

void add_version(CLI::App& program) {
  program.set_version_flag("--version",
                           fmt::format("{} {} ({}, {})", program.get_name(), version::number,
                                       version::git_revision, version::build_type));
}

std::optional<int> parse(CLI::App& program, std::vector<std::string> words) {
  std::ranges::reverse(words);  // as CLI11 takes them
  try {
    program.parse(std::move(words));
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success);
  } catch (const CLI::ConversionError& error) {  // "Could not convert: --seed = abc"
    throw UsageError(std::string(error.what()) + "; expected a number");
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return std::nullopt;
}

void refuse_extras(const CLI::App& command, std::string_view call) {
  const std::vector<std::string> extras = command.remaining();
  if (extras.empty()) return;
  const std::string word = extras.front().substr(0, extras.front().find('='));
  if (word.starts_with("-")) {
    std::vector<std::string> valid;
    for (const CLI::Option* option : command.get_options()) {
      if (!option->get_name().empty()) valid.push_back(option->get_name());
    }
    throw UsageError(unknown_name("option", word, valid));
  }
  std::vector<std::string> commands;
  for (const CLI::App* subcommand :
       command.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); })) {
    commands.push_back(subcommand->get_name());
  }
  if (!commands.empty()) throw UsageError(unknown_name("command", word, commands));
  throw UsageError(fmt::format("unexpected argument '{}'; see '{} --help'", extras.front(), call));
}

int run_program(std::string_view name, const std::function<int()>& work) {
  occupy_standard_streams();
  // Turns a closed pipe and a full file size limit into errors of a write.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // Restores the default: if ignored, the exit status of a worker would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  const auto fail = [&](const std::exception& error, ExitCode code) {
    say("{}: {}\n", name, std::string_view(error.what()));
    return code;
  };
  try {
    return checked_output(name, work());
  } catch (const UsageError& error) {
    return fail(error, usage);
  } catch (const AbsentDevice& error) {
    return fail(error, absent);
  } catch (const std::exception& error) {
    return fail(error, infrastructure);
  }
}

}  // namespace assay::cli
