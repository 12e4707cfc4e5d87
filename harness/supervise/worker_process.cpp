#include "harness/supervise/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "harness/supervise/child_process.h"
#include "kernels/core/version.h"

namespace assay {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Time limit for a process to end after KILL. One in uninterruptible sleep never ends.
constexpr double kill_s = 5;
/// Time limit for a stop to reach each thread.
constexpr double stop_s = 0.1;
constexpr std::size_t kept_error_bytes = 4096;
/// Limit far beyond any answer; a longer line is garbage.
constexpr std::size_t max_line_bytes = std::size_t{64} << 20;

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe for a worker");
  }
  return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

/// Appends the available bytes and closes `from` at its end. Stops after a while: a worker that
/// floods its standard error must not hold the parent here.
void drain(FileDescriptor& from, std::string& into) {
  std::array<char, 65536> bytes;
  for (int i = 0; i < 64 && from.get() >= 0; ++i) {
    const ssize_t n = read(from.get(), bytes.data(), bytes.size());
    if (n > 0) into.append(bytes.data(), static_cast<std::size_t>(n));
    if (n == 0) from.reset();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
  }
}

}  // namespace

double hello_limit_s(int accelerators) {
  constexpr double start_s = 110;  // twice a file in Python: of ops, and of kernels
  constexpr double each_s = 10;
  return start_s + each_s * accelerators;
}

std::string own_build_id() { return version::build_id; }

WorkerProcess::WorkerProcess(const WorkerCommand& command) : signal_group_(command.signal_group) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe error = make_pipe();
  std::vector<std::string> arguments = command.arguments;
  if (const auto& conduct = command.conduct) {
    arguments.insert(arguments.end(), {"--cap", fmt::format("{}", conduct->cap_s)});
    if (!conduct->references.empty()) {
      arguments.insert(arguments.end(), {"--references", conduct->references});
    }
    if (!conduct->choices.empty()) {
      arguments.insert(arguments.end(), {"--choices", conduct->choices});
    }
  }
  pid_ = start_child({.arguments = std::move(arguments),
                      .environment = command.environment,
                      .streams = {in.read.get(), out.write.get(), error.write.get()},
                      .processors = command.processors,
                      .own_group = true});
  to_ = std::move(in.write);
  from_ = std::move(out.read);
  errors_ = std::move(error.read);
  // The parent waits in `poll` for all workers at once, never in a read from one.
  fcntl(from_.get(), F_SETFL, O_NONBLOCK);
  fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() { stop(0, 0); }

bool WorkerProcess::send(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(to_.get(), text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

void WorkerProcess::receive() {
  const bool ended = has_ended();  // first: then the pipes hold all its output
  drain(errors_, error_text_);
  if (error_text_.size() > kept_error_bytes) {
    error_text_.erase(0, error_text_.size() - kept_error_bytes);
  }
  drain(from_, unread_);
  if (!ended) return;
  errors_.reset();
  from_.reset();
}

bool WorkerProcess::take_line(std::string& line) {
  const std::size_t end = unread_.find('\n');
  if (end == std::string::npos) return false;
  line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return true;
}

bool WorkerProcess::line_too_long() const {
  return unread_.size() > max_line_bytes && unread_.find('\n') == std::string::npos;
}

bool WorkerProcess::pause() {
  if (wait_status_) return true;
  signal_group_(pid_, SIGSTOP);
  const Deadline deadline = after(stop_s);
  for (;;) {
    siginfo_t state{};
    // WNOWAIT leaves the state for other callers: this function must not consume the worker's end.
    const int failed =
        waitid(P_PID, static_cast<id_t>(pid_), &state, WSTOPPED | WEXITED | WNOHANG | WNOWAIT);
    if (failed == 0 && state.si_pid == pid_) return true;
    if (steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Leaves an ended worker a zombie: until the wait no other group can get its id.
bool WorkerProcess::has_ended() {
  if (wait_status_) return true;
  siginfo_t state{};
  const int failed = waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT);
  if (failed != 0) return errno == ECHILD;
  if (state.si_pid != pid_) return false;
  if (!std::exchange(ended_group_, true)) signal_group_(pid_, SIGKILL);
  return true;
}

bool WorkerProcess::wait_for_end(Deadline deadline) {
  while (!has_ended()) {
    if (steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == pid_) wait_status_ = status;
  return true;
}

bool WorkerProcess::stop(double leave_s, double term_s) {
  if (pid_ < 0 || wait_status_) return true;
  if (abandoned_) return false;
  to_.reset();
  bool ended = wait_for_end(after(leave_s));
  if (!ended) {
    signal_group_(pid_, SIGTERM);
    ended = wait_for_end(after(term_s));
  }
  if (!ended) {
    sent_kill_ = true;
    signal_group_(pid_, SIGKILL);
    ended = wait_for_end(after(kill_s));
  }
  abandoned_ = !ended;
  drain(errors_, error_text_);
  return ended;
}

bool WorkerProcess::killed_by_another() const {
  return wait_status_ && WIFSIGNALED(*wait_status_) && WTERMSIG(*wait_status_) == SIGKILL &&
         !sent_kill_;
}

std::string WorkerProcess::exit_description() const {
  if (!wait_status_) return "";
  if (WIFSIGNALED(*wait_status_)) {
    const int signal = WTERMSIG(*wait_status_);
    return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  return "exit code " + std::to_string(WEXITSTATUS(*wait_status_));
}

std::string WorkerProcess::last_words() const {
  std::string text = error_text_;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace assay
