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

/// Parses the words of a command line, without the program's name. Returns the exit code of --help
/// and --version. Throws UsageError.
std::optional<int> parse(CLI::App& program, std::vector<std::string> words);

/// Throws UsageError for the first word that `command` did not take, with the nearest valid name.
/// `call` is how the command is called: "assay run".
void refuse_extras(const CLI::App& command, std::string_view call);

/// Body of a `main`: does the work, and turns an exception into one line on standard error and an
/// exit code. Standard output that could not be written is a failure too.
int run_program(std::string_view name, const std::function<int()>& work);

}  // namespace assay::cli
