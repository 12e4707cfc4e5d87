#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

using Deadline = std::chrono::steady_clock::time_point;

/// How to start a worker.
struct WorkerCommand {
  std::vector<std::string> arguments;  // the program first
  /// Set for the worker beside the parent's environment.
  std::vector<std::pair<std::string, std::string>> environment;
};

/// A file descriptor, closed with the object.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  void reset();

 private:
  int fd_ = -1;
};

/// A started worker: its pipes, its end, its last words. In a process group of its own, so that a
/// Ctrl-C at the terminal reaches the parent alone, which decides. Killed with the object. The
/// process must ignore SIGPIPE: a write to a worker that has died is then an error.
class WorkerProcess {
 public:
  /// Throws std::system_error when the program cannot be started.
  explicit WorkerProcess(const WorkerCommand& command);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// False when the worker has closed its input, as a dead one has.
  bool send(const std::string& line);

  enum class Outcome { line, too_long, ended, timed_out, interrupted };
  /// Waits for the next line of the worker until `deadline`. `interrupted` is asked whenever a
  /// signal arrives.
  Outcome read_line(std::string& line, Deadline deadline, const std::function<bool()>& interrupted);

  /// Closes the worker's input, which asks it to leave, and waits; what does not leave in time is
  /// sent TERM, then KILL. False when not even that ended it (a process stuck in the kernel).
  bool stop(double leave_s, double term_s);

  /// After the end: "signal 11 (Segmentation fault)", "exit code 2". Empty while it runs.
  std::string how_it_ended() const;
  /// The last line that it printed on standard error; empty when there was none.
  std::string last_words() const;

 private:
  bool wait_for_end(Deadline deadline);

  pid_t pid_ = -1;
  std::optional<int> wait_status_;
  FileDescriptor to_;
  FileDescriptor from_;
  FileDescriptor errors_;
  std::string unread_;
  std::string error_text_;
};

}  // namespace assay
