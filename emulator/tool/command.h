#pragma once

#include <string>
#include <vector>

namespace emulator {

/// Exit codes of a shell for a command that is not there, and one that cannot be started.
inline constexpr int not_found = 127, not_started = 126;

/// Runs a command with this process's environment, waits for it and returns its exit code, or 128
/// and the number of the signal that ended it. Interrupts go to the command alone.
int run_command(const std::vector<std::string>& command);

/// Starts the command in place of this process. Returns only if that fails.
int become_command(const std::vector<std::string>& command);

/// Whether a program needs some libcudart: it was linked with `nvcc -cudart shared`, or one of the
/// libraries that it starts with was. False for what is no such program, as a script.
bool needs_cudart(const std::string& command);

}  // namespace emulator
