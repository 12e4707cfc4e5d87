#include "session/process/this_launch.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/core/fnv1a.h"
#include "kernels/core/this_program.h"
#include "kernels/device/launcher.h"

namespace assay {

std::optional<LaunchInfo> this_launch() {
  auto launch = launch_info();
  if (!launch) return launch;
  // A worker gets the hash of its parent's command line.
  const char* inherited = std::getenv(command_hash_name);
  if (inherited != nullptr) {
    launch->command_hash = std::strtoll(inherited, nullptr, 10);
    return launch;
  }
  std::uint64_t hash = fnv1a_begin;
  const std::vector<std::string> words = command_line();
  for (std::size_t i = 1; i < words.size(); ++i) hash = fnv1a(words[i] + '\0', hash);
  launch->command_hash = static_cast<std::int64_t>(hash >> 2U);  // its negative fits too
  return launch;
}

}  // namespace assay
