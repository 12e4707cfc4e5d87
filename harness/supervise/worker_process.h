#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/clock.h"
#include "kernels/core/file_descriptor.h"

namespace assay {

/// Of this very program.
std::string own_build_id();

/// How to start a worker.
struct WorkerCommand {
  std::vector<std::string> arguments;  // the program first
  /// Set for the worker beside the parent's environment.
  std::vector<std::pair<std::string, std::string>> environment;
  /// Of the program: a worker of another build is refused. Empty: any build may answer.
  std::string build_id = own_build_id();
  /// Its devices are lost with it: no other worker can take its place.
  bool once = false;
  /// Sends a signal to a process group. Replaced by tests: they cannot make a process that KILL
  /// does not end.
  std::function<void(pid_t group, int signal)> signal_group = [](pid_t group, int signal) {
    ::kill(-group, signal);
  };
};

/// A started worker: its pipes, its end, its last words. In a process group of its own, so that a
/// Ctrl-C at the terminal reaches the parent alone, which decides. Killed with the object. Its own
/// end counts, and what it leaves of its group is killed then: a child may hold the pipes open. The
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

  /// What `poll` waits for: input from the worker, then its standard error. Negative once closed.
  std::array<int, 2> descriptors() const { return {from_.get(), errors_.get()}; }
  /// Takes in what the worker has written so far, and looks whether it has ended; never waits.
  void receive();
  /// The next whole line that was received; false when there is none yet.
  bool take_line(std::string& line);
  /// No line will come any more: the worker closed its output, or has ended.
  bool silent() const { return from_.get() < 0; }
  /// More without a line end than any answer has.
  bool line_too_long() const;

  /// Keeps all of its threads from running until resume(), those that spin while they wait too.
  /// True once it stands still or has ended; false where it does not stop, as one stuck in the
  /// kernel.
  bool pause();
  void resume() { signal_group_(pid_, SIGCONT); }

  /// Closes the worker's input, which asks it to leave, and waits; what does not leave in time is
  /// sent TERM, then KILL. False when not even that ended it (a process stuck in the kernel), which
  /// is then left alone.
  bool stop(double leave_s, double term_s);

  pid_t pid() const { return pid_; }
  /// After the end: whether it was ended by a KILL that was not ours.
  bool killed_by_another() const;

  /// After the end: "signal 11 (Segmentation fault)", "exit code 2". Empty while it runs.
  std::string exit_description() const;
  /// The last line that it printed on standard error; empty when there was none.
  std::string last_words() const;

 private:
  bool has_ended();
  bool wait_for_end(Deadline deadline);

  std::function<void(pid_t, int)> signal_group_;
  pid_t pid_ = -1;
  bool abandoned_ = false;
  bool sent_kill_ = false;
  bool ended_group_ = false;
  std::optional<int> wait_status_;
  FileDescriptor to_;
  FileDescriptor from_;
  FileDescriptor errors_;
  std::string unread_;
  std::string error_text_;
};

}  // namespace assay
