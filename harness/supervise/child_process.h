#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// Program to start, with its environment and streams.
struct ChildCommand {
  std::vector<std::string> arguments;  // the program first
  /// Variables added to the parent's environment; the last entry of a name wins.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> withheld = {};  // variables of the parent that it does not get
  std::array<int, 3> streams{0, 1, 2};     // descriptors that become its standard ones
  std::vector<int> processors = {};        // on which alone it may run; empty: as the parent
  /// A process group of its own, with the default action of each signal: a Ctrl-C at the terminal
  /// reaches the parent alone.
  bool own_group = false;
};

/// Throws std::system_error where the program cannot be started.
pid_t start_child(const ChildCommand& command);

}  // namespace assay
