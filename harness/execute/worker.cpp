#include "harness/execute/worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>

#include "kernels/core/choice_file.h"
#include "kernels/core/version.h"

namespace assay {

WorkerChannel::WorkerChannel(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // the parent died before prctl
  to_parent_ = FileDescriptor(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (to_parent_.get() < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "worker: standard output");
  }
}

void WorkerChannel::send(const std::string& message) const {
  const std::string line = message + "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = write(to_parent_.get(), line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::system_error(errno, std::generic_category(), "worker: answering");
    sent += static_cast<std::size_t>(n);
  }
}

protocol::Hello hello_of(const Backends& backends) {
  protocol::Hello hello;
  hello.schema = Record{}.schema_version;
  hello.build_id = version::build_id;
  hello.devices = backends.describe();
  hello.backends = backends.traits();
  hello.problems = backends.problems();
  return hello;
}

void serve(const WorkerChannel& channel, const protocol::Hello& hello, const Backends& backends,
           EngineOptions options) {
  channel.send(encode(hello));

  std::optional<Engine> engine;  // made by the first trial, as its conduct may come before
  const auto next = [](protocol::ToWorker& message) {
    std::string line;
    if (!std::getline(std::cin, line)) return false;
    message = protocol::decode_to_worker(line);
    return true;
  };
  const auto wait_for_turn = [&] {
    channel.send(encode(protocol::Ready{}));
    protocol::ToWorker answer;
    if (!next(answer)) _exit(0);  // the parent left; nothing measured is worth keeping
    if (!std::holds_alternative<protocol::Turn>(answer)) {
      throw protocol::Malformed("a trial is open: expected a turn");
    }
  };
  for (protocol::ToWorker message; next(message);) {
    if (const auto* unknown = std::get_if<protocol::UnknownCase>(&message)) {
      channel.send(protocol::encode(*unknown));
      continue;
    }
    if (const auto* conduct = std::get_if<protocol::Conduct>(&message)) {
      if (engine) throw protocol::Malformed("a conduct after the first trial");
      options.cap_s = conduct->cap_s;
      options.references = conduct->references;
      use_choices(conduct->choices);
      continue;
    }
    const auto* trial = std::get_if<PlannedTrial>(&message);
    if (trial == nullptr) throw protocol::Malformed("no trial is open: expected one");
    if (!engine) engine.emplace(backends, options);
    channel.send(protocol::encode(engine->execute(*trial, wait_for_turn)));
  }
}

}  // namespace assay
