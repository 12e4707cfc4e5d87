#include "harness/run/worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <string>
#include <system_error>

#include "assay/version.h"
#include "harness/run/protocol.h"

namespace assay {
namespace {

/// Standard output as the protocol's own descriptor, and standard error in its place.
int take_over_stdout() {
  const int protocol_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (protocol_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "worker: standard output");
  }
  return protocol_fd;
}

void send(int fd, const std::string& message) {
  const std::string line = message + "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = write(fd, line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::system_error(errno, std::generic_category(), "worker: answering");
    sent += static_cast<std::size_t>(n);
  }
}

}  // namespace

void serve_as_worker(const Backends& backends, const EngineOptions& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int protocol_fd = take_over_stdout();

  protocol::Hello hello;
  hello.schema = Record{}.schema_version;
  hello.build_id = version::build_id;
  hello.devices = backends.describe();
  for (const std::string& kind : backends.kinds()) {
    hello.backends.push_back({kind, backends.find(kind)->ranks_share_device()});
  }
  hello.problems = backends.problems();
  send(protocol_fd, encode(hello));

  Engine engine(backends, options);
  for (std::string line; std::getline(std::cin, line);) {
    send(protocol_fd, protocol::encode(engine.execute(protocol::decode_trial(line))));
  }
}

}  // namespace assay
