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
#include "harness/supervise/second_takes.h"
#include "harness/supervise/standby.h"
#include "harness/supervise/worker_process.h"

namespace assay {

struct SupervisorOptions {
  WorkerCommand worker;
  /// Worker that listed the devices. The first lane of its command goes on with it.
  std::shared_ptr<Standby> standby = {};
  /// Adapts the command for the worker of one lane.
  std::function<void(WorkerCommand&, const std::vector<DeviceId>& lane)> for_lane =
      [](WorkerCommand&, const std::vector<DeviceId>&) {};
  /// Adapts the command for a further worker of a lane, which times nothing.
  std::function<void(WorkerCommand&)> for_checks = [](WorkerCommand&) {};
  /// Backends of the devices.
  std::vector<BackendTraits> backends;
  /// True if a launcher started this process and may end it: open trials still get rows then.
  bool is_launched = false;
  double timeout_s = 120;  // limit for one trial
  std::uint64_t seed = 1;
  /// Number of further attempts at a trial that did not pass, each with its own row.
  int retries = 0;
  /// Ends the run at the first trial that stays bad.
  bool fail_fast = false;
  /// Drops the other trials of a lane after one that broke: a crash, a hang, a lost device.
  bool break_ends_lane = false;
  /// Share of its time that the execution of a plan may spend on second takes of trials whose times
  /// were disturbed.
  double second_takes_share = 0;
  /// Number of workers that work at the same time. Their checks run side by side. One lane at a
  /// time is timed while all others wait, unless `overlap_timings`. A device whose memory is the
  /// host's may have several: they share the trials of its lane that are only checked, and where
  /// others are timed one more does these alone.
  int lanes = 1;
  bool overlap_timings = false;
  /// Flags that the replay of a record needs beside case, device and seed: "--threads 1".
  std::function<std::string(const Record&)> replay_flags = [](const Record&) { return ""; };
  /// Called between steps. True ends the run at once; open trials get no row unless a launcher
  /// started it.
  std::function<bool()> interrupted = [] { return false; };
  /// Called before each trial. True ends the run after the open trials.
  std::function<bool()> enough = [] { return false; };
  /// Rates each result by figures that only the parent has, before its status counts: work that was
  /// judged right may turn out wrong.
  std::function<void(const PlannedTrial&, Result&)> rate = [](const PlannedTrial&, Result&) {};
  /// Completes each record before the sinks see it with data that only the parent knows.
  std::function<void(const PlannedTrial&, Record&)> complete = [](const PlannedTrial&, Record&) {};
  /// Reason for accepting a record's failure as known; empty if it is not.
  std::function<std::string(const Record&)> expected_failure = [](const Record&) { return ""; };
};

/// End of the execution of a plan.
enum class PlanEnd { completed, interrupted, failed_fast, enough };

/// Executes plans with workers, one per lane or more, and turns the outcome of each trial into one
/// record. A wrong answer, a crash, a hang or a lost worker becomes a row, and the run goes on.
/// Only the supervisor hands records to sinks.
class Supervisor {
 public:
  Supervisor(SupervisorOptions options, const RunInfo& run, std::span<Sink* const> sinks)
      : options_(std::move(options)), run_(run), sinks_(sinks) {}
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Keeps workers for the next plan unless another lane needs their devices. Lanes of several
  /// devices hand a worker on.
  PlanEnd execute(std::span<const PlannedTrial> plan);

  /// Counts over all trials so far.
  const ReferenceCount& references() const { return references_; }
  /// Time of all trials so far, measured by their workers, and of the sinks.
  const PhaseSeconds& phases() const { return phases_; }
  const LeakMonitor& leak_monitor() const { return leaks_; }
  /// True if a worker was started that drives all devices of a kind.
  bool drove_job() const { return drove_job_; }

 private:
  struct Queue {
    Lane lane;
    Queue* helps = nullptr;      // the queue of the same lane some of whose checks it takes
    bool leaves_checks = false;  // to its helpers: it takes times, and its threads may spin
    std::deque<PlannedTrial> trials;
    bool has_begun = false;  // to work on `trials`
    PlannedTrial open;
    std::string started_at;  // start of the open trial
    double began_s = 0;      // steady clock
    SecondTakes second_takes;
    int disturbed_takes = 0;  // second takes in a row that were disturbed too

    void open_next();
    /// True if it works, or keeps a worker for further trials. A worker of an earlier plan, or of
    /// trials that second takes follow, takes no other lane's place.
    bool is_unfinished() const {
      return lane.busy() || (has_begun && lane.has_worker() && !trials.empty());
    }
  };

  Queue& queue_of(const std::vector<DeviceId>& lane);
  WorkerCommand command_for(const std::vector<DeviceId>& served, bool once) const;
  void add_helpers();
  void take_a_check(Queue& helper);
  bool leaves_to_helpers(const Queue& queue) const;
  static bool are_of_one_lane(const Queue& a, const Queue& b) {
    return a.lane.devices() == b.lane.devices();
  }
  std::vector<DeviceId> all_devices(const std::string& kind) const;
  void begin_trials();
  void begin_second_takes(Queue& queue);
  bool may_start(Queue& queue);
  void take_over_a_worker(Queue& queue);
  void take_standby(Queue& queue);
  const GivenUp* why_given_up(const Queue& queue) const;
  void begin_trial(Queue& queue);
  void grant_turns();
  void wait() const;
  void step(Queue& queue);
  /// Step that follows the result of a queue's open trial.
  enum class Next { other_trial, second_take, retry, end_of_lane, end_of_run };
  Next next_after(const Record& record, const Queue& queue, bool is_second) const;
  void conclude_record(Result& result, const Queue& queue, bool is_second) const;
  void conclude(Queue& queue, Result result);
  void identify_row(Record& record, const Queue& queue) const;
  void deliver(Result result, const PlannedTrial& trial);
  void deliver_first_takes(std::vector<SecondTakes::Held> held);
  void end_second_takes(Queue& queue);
  void end_all_second_takes();
  bool all_done() const;
  PlanEnd end_of_launch();

  SupervisorOptions options_;
  const RunInfo& run_;
  std::span<Sink* const> sinks_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::map<DeviceId, GivenUp> lost_devices_;
  double execution_began_s_ = 0;  // steady clock
  double second_takes_s_ = 0;     // allotted since
  bool stopping_ = false;         // begins no further trial
  bool failed_fast_ = false;
  bool drove_job_ = false;
  ReferenceCount references_;
  PhaseSeconds phases_;
  LeakMonitor leaks_;
};

}  // namespace assay
