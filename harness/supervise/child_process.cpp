#include "harness/supervise/child_process.h"

#include <spawn.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <system_error>

#include "harness/supervise/affinity.h"

extern char** environ;  // NOLINT: POSIX's name

namespace assay {
namespace {

/// Environment of a child. Each name stands once: of two entries some readers take the first,
/// others the last.
std::vector<std::string> environment_of(const ChildCommand& command) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const auto is_it = [&](const std::string& name) { return text.starts_with(name + "="); };
    const bool is_changed =
        std::ranges::any_of(command.withheld, is_it) ||
        std::ranges::any_of(command.environment, is_it, [](const auto& set) { return set.first; });
    if (!is_changed) variables.push_back(text);
  }
  std::map<std::string, std::string> last;
  for (const auto& [name, value] : command.environment) last[name] = value;
  for (const auto& [name, value] : last) variables.push_back(name + "=" + value);
  return variables;
}

/// Null-terminated array of pointers for exec; valid as long as `strings` is.
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> array;
  for (std::string& string : strings) array.push_back(string.data());
  array.push_back(nullptr);
  return array;
}

struct SpawnSettings {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  explicit SpawnSettings(const ChildCommand& command) {
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; ++i) {
      posix_spawn_file_actions_adddup2(&actions, command.streams.at(static_cast<std::size_t>(i)),
                                       i);
    }
    posix_spawnattr_init(&attributes);
    if (!command.own_group) return;
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    // The parent ignores SIGPIPE and handles other signals. Ignored signals would stay ignored over
    // exec.
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      sigaddset(&defaults, signal);
    }
    posix_spawnattr_setsigdefault(&attributes, &defaults);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

}  // namespace

pid_t start_child(const ChildCommand& command) {
  const SpawnSettings settings(command);
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_of(command);
  const Affinity inherited(command.processors);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, arguments.front().c_str(), &settings.actions, &settings.attributes,
                  pointers(arguments).data(), pointers(environment).data());
  if (error == 0) return pid;
  throw std::system_error(error, std::generic_category(), "cannot start " + arguments.front());
}

}  // namespace assay
