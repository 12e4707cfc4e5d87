#pragma once

#include <functional>
#include <memory>

#include "harness/plan/protocol.h"
#include "harness/supervise/worker_process.h"

namespace assay {

/// A worker that has said hello and has no trial yet. A lane of its command goes on with it. While
/// it waits it keeps the drivers of its devices loaded: without persistence mode a GPU's driver
/// leaves with the last process that uses it, and the next process pays seconds for each GPU.
struct Standby {
  WorkerCommand command;
  protocol::Hello hello;
  std::unique_ptr<WorkerProcess> worker;  // null once a lane has it

  Standby(WorkerCommand of, protocol::Hello said, std::unique_ptr<WorkerProcess> started);
  ~Standby() { release(); }
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;
  /// Lets the worker leave.
  void release();
};

/// Starts a worker and reads its hello: the parent never touches a device. Throws
/// std::runtime_error. Calls `is_slow` once if that takes longer than slow_s.
std::shared_ptr<Standby> start_standby(const WorkerCommand& command,
                                       const std::function<void()>& is_slow = {});
inline constexpr double slow_s = 5;

/// Overload that lets the worker leave at once.
protocol::Hello probe(const WorkerCommand& command);

}  // namespace assay
