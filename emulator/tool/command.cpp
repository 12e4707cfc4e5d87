#include "emulator/tool/command.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

extern "C" char** environ;

namespace emulator {
namespace {

volatile std::sig_atomic_t running = 0;

extern "C" void pass_on(int signal) {
  if (running > 0) kill(static_cast<pid_t>(running), signal);
}

/// Lets the command have the signals that end it: those of a terminal reach it anyhow.
void leave_signals_to_the_command() {
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
  for (const int signal : {SIGTERM, SIGHUP}) std::signal(signal, pass_on);
}

std::vector<char*> words_of(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& each : command) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  return words;
}

int tell_failure(const std::vector<std::string>& command, int error) {
  fmt::print(stderr, "emulate-gpu: {} cannot be started: {}\n", command.front(),
             std::strerror(error));
  return error == ENOENT ? not_found : not_started;
}

/// Starts the command with the signals' usual effects. Returns 0 or an error number.
int start(pid_t* process, const std::vector<std::string>& command) {
  const std::vector<char*> arguments = words_of(command);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error =
      posix_spawnp(process, arguments.front(), nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

int run_command(const std::vector<std::string>& command) {
  leave_signals_to_the_command();
  pid_t process = 0;
  if (const int error = start(&process, command); error != 0) return tell_failure(command, error);
  running = process;
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return not_started;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int become_command(const std::vector<std::string>& command) {
  execvp(command.front().c_str(), words_of(command).data());
  return tell_failure(command, errno);
}

bool needs_cudart(const std::string& command) {
  // What `ldd` does, for a program that the shell would find, without a shell for its name.
  std::string quoted;
  for (const char c : command) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const std::string list = fmt::format(
      "file=$(command -v -- '{}') && [ -f \"$file\" ] && LD_TRACE_LOADED_OBJECTS=1 "
      "/lib64/ld-linux-x86-64.so.2 \"$file\" 2>/dev/null",
      quoted);
  std::FILE* pipe = popen(list.c_str(), "r");
  if (pipe == nullptr) return false;
  std::string text;
  char part[4096];
  for (std::size_t bytes = 0; (bytes = std::fread(part, 1, sizeof part, pipe)) > 0;)
    text.append(part, bytes);
  pclose(pipe);
  return text.find("libcudart.so.") != std::string::npos;
}

}  // namespace emulator
