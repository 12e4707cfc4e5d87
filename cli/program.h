#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace assay::cli {

/// --version.
void add_version(CLI::App& program);

/// Parses the words of a command line, without the program's name. The exit code where that was all
/// that was asked for (--help, --version). Throws UsageError.
std::optional<int> parse(CLI::App& program, std::vector<std::string> words);

/// For the first word that `command` did not take: throws UsageError that says what it may have
/// been meant to be. `call` is how the command is called: "assay run".
void refuse_extras(const CLI::App& command, std::string_view call);

/// What a `main` is: does the work, and turns what it throws into one line on standard error and an
/// exit code. Standard output that could not be written is a failure too.
int run_program(std::string_view name, const std::function<int()>& work);

}  // namespace assay::cli
