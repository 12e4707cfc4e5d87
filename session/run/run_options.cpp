#include "session/run/run_options.h"

#include <fmt/format.h>

#include "harness/records/replay.h"
#include "session/workers/worker_command.h"

namespace assay {

double timeout_s(const RunOptions& options) {
  return options.timeout_s > 0 ? options.timeout_s
                               : find_profile(options.selection.cases.profile).timeout_s;
}

std::function<std::string(const Record&)> replay_flags(const RunOptions& options) {
  std::string more;
  if (timeout_s(options) != Profile().timeout_s) {
    more = fmt::format("--timeout {}", timeout_s(options));
  }
  if (!options.choices.empty()) {
    more += fmt::format("{}--choices {}", more.empty() ? "" : " ",
                        shell_word(std::filesystem::absolute(options.choices).string()));
  }
  return [of_selection = replay_flags(options.selection), more](const Record& record) {
    const std::string flags = of_selection(record);
    return flags + (flags.empty() || more.empty() ? "" : " ") + more;
  };
}

}  // namespace assay
