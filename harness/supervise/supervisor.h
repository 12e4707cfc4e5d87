#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/plan/protocol.h"
#include "harness/records/record.h"
#include "harness/supervise/lane.h"
#include "harness/supervise/leak_monitor.h"
#include "harness/supervise/worker_process.h"

namespace assay {

struct SupervisorOptions {
  WorkerCommand worker;
  /// Makes that the command of one lane's worker.
  std::function<void(WorkerCommand&, const std::vector<DeviceId>& lane)> for_lane =
      [](WorkerCommand&, const std::vector<DeviceId>&) {};
  /// Those of the devices.
  std::vector<BackendTraits> backends;
  /// A launcher started this process, and may end it: open trials then get rows all the same.
  bool is_launched = false;
  double timeout_s = 120;  // of one trial
  std::uint64_t seed = 1;
  /// Further attempts at a trial that did not pass, each in a row of its own.
  int retries = 0;
  /// End the run at the first trial that stays bad.
  bool fail_fast = false;
  /// Lanes that work at the same time. Their checks run side by side; times are taken by one lane
  /// while all others wait, unless `overlap_timings`.
  int lanes = 1;
  bool overlap_timings = false;
  /// What the replay of a record needs beside case, device and seed: "--threads 1".
  std::function<std::string(const Record&)> replay_flags = [](const Record&) { return ""; };
  /// Asked between steps: true ends the run at once, and open trials get no row unless a launcher
  /// started it.
  std::function<bool()> interrupted = [] { return false; };
  /// Asked before each trial: true ends the run when the open trials have ended.
  std::function<bool()> enough = [] { return false; };
  /// Sees each record before the sinks do, to add what only a parent knows.
  std::function<void(const PlannedTrial&, Record&)> complete = [](const PlannedTrial&, Record&) {};
  /// Why the failure in a record is accepted as a known one; empty when it is not.
  std::function<std::string(const Record&)> expected_failure = [](const Record&) { return ""; };
};

/// How the execution of a plan ended.
enum class PlanEnd { completed, interrupted, failed_fast, enough };

/// Executes plans by workers, one per lane, and turns whatever becomes of each trial into one
/// record: a wrong answer, a crash, a hang and a lost worker are rows, and the run goes on. The
/// only place that hands records to sinks.
class Supervisor {
 public:
  Supervisor(SupervisorOptions options, const RunInfo& run, std::span<Sink* const> sinks)
      : options_(std::move(options)), run_(run), sinks_(sinks) {}
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Workers stay for the next plan where their devices are not needed by another lane.
  PlanEnd execute(std::span<const PlannedTrial> plan);

  /// Over all trials so far.
  const ReferenceCount& references() const { return references_; }
  /// Of all trials so far, as their workers measured it, and of the sinks that were told of them.
  const PhaseSeconds& phases() const { return phases_; }
  const LeakMonitor& leak_monitor() const { return leaks_; }
  /// Whether a worker was started that drives all devices of a kind.
  bool drove_job() const { return drove_job_; }

 private:
  struct Queue {
    Lane lane;
    std::deque<PlannedTrial> trials;
    PlannedTrial open;
    std::string started_at;  // of the open trial
    double began_s = 0;      // of a steady clock

    void open_next();
  };

  Queue& queue_of(const std::vector<DeviceId>& lane);
  std::vector<DeviceId> all_devices(const std::string& kind) const;
  void begin_trials();
  bool may_start(const Queue& queue) const;
  const GivenUp* why_given_up(const Queue& queue) const;
  void begin_trial(Queue& queue);
  void grant_turns();
  void wait() const;
  void step(Queue& queue);
  void conclude(Queue& queue, Result result);
  void identify_row(Record& record, const Queue& queue) const;
  void deliver(Result result, const PlannedTrial& trial);
  bool all_done() const;
  PlanEnd end_of_launch();

  SupervisorOptions options_;
  const RunInfo& run_;
  std::span<Sink* const> sinks_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::map<DeviceId, GivenUp> lost_devices_;
  bool stopping_ = false;  // no trial is begun any more
  bool failed_fast_ = false;
  bool drove_job_ = false;
  ReferenceCount references_;
  PhaseSeconds phases_;
  LeakMonitor leaks_;
};

/// Starts a worker, hears its hello and lets it leave: what this machine has, seen by another
/// process, so that the parent never touches a device. Throws std::runtime_error.
protocol::Hello probe(const WorkerCommand& command);

}  // namespace assay
