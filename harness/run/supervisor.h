#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/record.h"
#include "harness/run/plan.h"
#include "harness/run/protocol.h"
#include "harness/run/worker_process.h"

namespace assay {

struct SupervisorOptions {
  WorkerCommand worker;
  double timeout_s = 120;  // of one trial
  std::uint64_t seed = 1;
  /// What a replay needs beside case, device and seed: "--threads 1".
  std::string replay_flags;
  /// Asked between steps: true ends the run early.
  std::function<bool()> interrupted = [] { return false; };
};

/// Executes a plan by workers, one per lane, and turns whatever becomes of each trial into one
/// record: a wrong answer, a crash, a hang and a lost worker are rows, and the run goes on. The
/// only place that hands records to sinks.
class Supervisor {
 public:
  Supervisor(SupervisorOptions options, const RunInfo& run, std::span<Sink* const> sinks)
      : options_(std::move(options)), run_(run), sinks_(sinks) {}
  ~Supervisor();

  /// False when it was interrupted before the end of the plan.
  bool execute(std::span<const PlannedTrial> plan);

 private:
  /// False when interrupted: the trial then has no record.
  bool execute(const PlannedTrial& trial);
  Result ask_worker(const PlannedTrial& trial);
  void start_worker(const std::vector<DeviceId>& lane);
  void deliver(Result result, const PlannedTrial& trial, const std::string& started_at);

  SupervisorOptions options_;
  const RunInfo& run_;
  std::span<Sink* const> sinks_;
  std::unique_ptr<WorkerProcess> worker_;
  std::vector<DeviceId> worker_lane_;
  int failed_starts_ = 0;
  std::string last_start_error_;
  bool interrupted_ = false;
};

/// Starts a worker, hears its hello and lets it leave: what this machine has, seen by another
/// process, so that the parent never touches a device. Throws std::runtime_error.
protocol::Hello probe(const WorkerCommand& command);

}  // namespace assay
