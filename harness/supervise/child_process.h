#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// How to start a program.
struct ChildCommand {
  std::vector<std::string> arguments;  // the program first
  /// Set for the child beside the parent's environment; of several of one variable the last.
  std::vector<std::pair<std::string, std::string>> environment;
  std::array<int, 3> streams{0, 1, 2};  // descriptors that become its standard ones
  /// A process group of its own, with the default action of each signal: a Ctrl-C at the terminal
  /// reaches the parent alone.
  bool own_group = false;
};

/// Throws std::system_error where the program cannot be started.
pid_t start_child(const ChildCommand& command);

}  // namespace assay
