#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace assay::cli {

/// Parses a stored command line, "assay COMMAND ...", with the options of `app`. Throws UsageError
/// for another command, and for words that this version does not understand.
void parse_stored(CLI::App& app, std::string_view command,
                  const std::vector<std::string>& command_line);

/// Throws UsageError for an option of `command` that may not go with --resume, as the stored
/// command line has it: any but those of output and waiting. `why` goes on behind "--x does not go
/// with --resume".
void refuse_with_resume(const CLI::App& command, std::string_view why);

}  // namespace assay::cli
