#include "harness/supervise/standby.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/supervise/lane.h"
#include "kernels/core/clock.h"

namespace assay {
namespace {

using std::chrono::steady_clock;

/// Waits for the worker's output, but not so long that its end is overlooked.
void wait_for_output(const WorkerProcess& worker) {
  constexpr int max_wait_ms = 200;
  std::vector<pollfd> polled;
  for (const int fd : worker.descriptors()) polled.push_back({fd, POLLIN, 0});
  poll(polled.data(), polled.size(), max_wait_ms);
}

}  // namespace

Standby::Standby(WorkerCommand of, protocol::Hello said, std::unique_ptr<WorkerProcess> started)
    : command(std::move(of)), hello(std::move(said)), worker(std::move(started)) {}

void Standby::release() {
  if (worker) worker->stop(usual_leave_s);
  worker.reset();
}

std::shared_ptr<Standby> start_standby(const WorkerCommand& command,
                                       const std::function<void()>& is_slow) {
  auto worker = std::make_unique<WorkerProcess>(command);
  const Deadline deadline = after(command.hello_s);
  const Deadline slow = after(slow_s);
  bool has_warned = !is_slow;
  std::string line;
  while (!worker->take_line(line)) {
    if (worker->silent()) {
      worker->stop(usual_leave_s);
      throw std::runtime_error("a worker did not start: " + exit_summary(*worker));
    }
    if (steady_clock::now() >= deadline) {
      throw std::runtime_error(fmt::format("a worker said nothing for {} s", command.hello_s));
    }
    wait_for_output(*worker);
    worker->receive();
    if (!has_warned && steady_clock::now() >= slow) {
      is_slow();
      has_warned = true;
    }
  }
  const auto message = protocol::decode_from_worker(line);
  const auto* hello = std::get_if<protocol::Hello>(&message);
  if (hello == nullptr) throw std::runtime_error("a worker did not say hello first");
  check_hello(*hello, command.build_id);
  return std::make_shared<Standby>(command, *hello, std::move(worker));
}

protocol::Hello probe(const WorkerCommand& command) { return start_standby(command)->hello; }

}  // namespace assay
