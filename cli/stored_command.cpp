#include "cli/stored_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

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

void refuse_with_resume(const CLI::App& command, std::string_view why) {
  constexpr auto allowed =
      std::to_array<std::string_view>({"--resume", "--quiet", "--jsonl", "--wait", "--help"});
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || std::ranges::count(allowed, option->get_name()) > 0) continue;
    throw UsageError(fmt::format("{} does not go with --resume: {}", option->get_name(), why));
  }
}

}  // namespace assay::cli
