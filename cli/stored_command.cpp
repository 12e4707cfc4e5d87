#include "cli/stored_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "kernels/core/status.h"

namespace assay::cli {

void parse_stored(CLI::App& app, std::string_view command,
                  const std::vector<std::string>& command_line) {
  if (command_line.size() < 2 || command_line[1] != command) {
    throw UsageError(fmt::format("the stored command line is not one of 'assay {}'", command));
  }
  std::vector<std::string> words(command_line.begin() + 2, command_line.end());
  std::ranges::reverse(words);  // as CLI11 takes them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("the stored command line is not understood: {}", error.what()));
  }
}

}  // namespace assay::cli
