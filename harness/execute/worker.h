#pragma once

#include <sys/types.h>

#include <string>

#include "harness/execute/engine.h"
#include "harness/plan/protocol.h"
#include "kernels/core/file_descriptor.h"
#include "kernels/device/backends.h"

namespace assay {

/// The worker's end of the protocol. Create it before any library is loaded: from then on library
/// output to stdout goes to stderr, and the process dies with its parent.
class WorkerChannel {
 public:
  /// Ends the process at once if `parent` is no longer its parent. Throws std::system_error.
  explicit WorkerChannel(pid_t parent);

  void send(const std::string& message) const;

 private:
  FileDescriptor to_parent_;
};

/// Describes a machine with these backends, as the first message of a worker.
protocol::Hello hello_of(const Backends& backends);

/// Says hello, executes the trials it is sent, returns at the end of its input.
void serve(const WorkerChannel& channel, const protocol::Hello& hello, const Backends& backends,
           EngineOptions options);

}  // namespace assay
