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

#include "harness/plan/protocol.h"
#include "kernels/core/clock.h"
#include "kernels/core/file_descriptor.h"
#include "kernels/device/pci_locality.h"

namespace assay {

/// Time limit of a fresh worker to say hello, on a machine with so many accelerators: starting the
/// runtime of each can take many seconds on a busy machine, and in turns.
double hello_limit_s(int accelerators);
/// Time limits of a worker to leave after a request, and after TERM.
inline constexpr double usual_leave_s = 5;
inline constexpr double usual_term_s = 2;

/// Build id of this program.
std::string own_build_id();

/// Command that starts a worker.
struct WorkerCommand {
  std::vector<std::string> arguments;  // the program first
  /// Variables added to the parent's environment.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<int> processors = {};  // on which alone it may run; empty: as the parent
  /// Expected build id: a worker of another build is refused. Empty: any build may answer.
  std::string build_id = own_build_id();
  /// True if its devices are lost with it: no other worker can replace it.
  bool once = false;
  /// Sends a signal to a process group. Tests replace it: they cannot make a process that survives
  /// KILL.
  std::function<void(pid_t group, int signal)> signal_group = [](pid_t group, int signal) {
    ::kill(-group, signal);
  };

  /// Arguments that a running worker can be told too.
  std::optional<protocol::Conduct> conduct = {};
  double hello_s = hello_limit_s(accelerators());

  /// True if both commands start the same worker, which may differ in its conduct.
  bool starts_alike(const WorkerCommand& other) const {
    return arguments == other.arguments && environment == other.environment &&
           processors == other.processors && build_id == other.build_id && once == other.once;
  }
  /// True if both workers also have the same conduct.
  bool starts_the_same(const WorkerCommand& other) const {
    return starts_alike(other) && conduct == other.conduct;
  }
};

/// A started worker: its pipes, its end, its last words. It has its own process group, so a Ctrl-C
/// at the terminal reaches only the parent, which decides. The destructor kills it. When the worker
/// ends, the rest of its group is killed: a child may hold the pipes open. This process must ignore
/// SIGPIPE: a write to a dead worker is then an error.
class WorkerProcess {
 public:
  /// Throws std::system_error when the program cannot be started.
  explicit WorkerProcess(const WorkerCommand& command);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// False if the worker has closed its input, as a dead one has.
  bool send(const std::string& line);

  /// Descriptors for `poll`: the worker's output, then its standard error. Negative once closed.
  std::array<int, 2> descriptors() const { return {from_.get(), errors_.get()}; }
  /// Reads the worker's output so far and checks if it has ended. Never waits.
  void receive();
  /// Takes the next complete line; false if there is none yet.
  bool take_line(std::string& line);
  /// True if no line will come any more: the worker closed its output or has ended.
  bool silent() const { return from_.get() < 0; }
  /// True if an unfinished line is longer than any answer.
  bool line_too_long() const;

  /// Stops all of its threads until resume(), also spinning ones. True once it stands still or has
  /// ended; false if it does not stop, such as one stuck in the kernel.
  bool pause();
  void resume() { signal_group_(pid_, SIGCONT); }

  /// Closes the worker's input, which asks it to leave, and waits. If it does not leave in time,
  /// sends TERM, then KILL. False if even KILL did not end it (a process stuck in the kernel); it
  /// is then left alone.
  bool stop(double leave_s, double term_s = usual_term_s);

  pid_t pid() const { return pid_; }
  /// After the end: true if a KILL of another sender ended it.
  bool killed_by_another() const;

  /// After the end: "signal 11 (Segmentation fault)", "exit code 2". Empty while it runs.
  std::string exit_description() const;
  /// Last line that it printed on standard error; empty if there was none.
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
