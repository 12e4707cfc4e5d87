#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/supervise/child_process.h"
#include "kernels/core/file_descriptor.h"

namespace assay {

/// A process that was started with a socket as its standard input. Ended with the object.
class SocketChild {
 public:
  explicit SocketChild(pid_t pid) : pid_(pid) {}
  ~SocketChild() { wait_for_end(); }
  SocketChild(const SocketChild&) = delete;
  SocketChild& operator=(const SocketChild&) = delete;

  /// Its end as waitpid tells it; nothing if it had to be killed.
  std::optional<int> wait_for_end();
  pid_t pid() const { return pid_; }
  /// "ended with exit code 3"
  std::string how_it_ended();

 private:
  pid_t pid_;
  bool is_reaped_ = false;
  std::optional<int> status_;
};

struct StartedChild {
  std::shared_ptr<SocketChild> child;
  FileDescriptor socket;  // this end
};

/// Starts the command that `command_for` makes with the child's end of the socket. Throws
/// std::system_error.
StartedChild start_with_socket(const std::function<ChildCommand(int socket)>& command_for);

}  // namespace assay
