#pragma once

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/plan/protocol.h"
#include "harness/records/record.h"
#include "harness/supervise/oom_watch.h"
#include "harness/supervise/worker_process.h"

namespace assay {

/// Reason why a lane takes no more trials, and the status of its remaining ones.
struct GivenUp {
  Status status;
  std::string reason;
  /// Lost device; empty if the lane as a whole is unusable.
  std::optional<DeviceId> device;
};

/// A set of devices and the worker that serves it, perhaps after it served others. Executes one
/// trial at a time and turns every outcome into one Result, also those of dead, silent or lying
/// workers. Never waits for a computing worker: the supervisor polls all lanes at once.
class Lane {
 public:
  Lane(std::vector<DeviceId> devices, const WorkerCommand& command, double timeout_s)
      : devices_(std::move(devices)),
        occupied_(devices_),
        command_(command),
        timeout_s_(timeout_s) {}
  Lane(Lane&&) noexcept = default;
  Lane& operator=(Lane&&) noexcept = default;

  const std::vector<DeviceId>& devices() const { return devices_; }
  /// Devices on which its worker may hold memory: its own, and those of the lanes that this worker
  /// served before.
  const std::vector<DeviceId>& occupied() const { return occupied_; }
  bool busy() const { return phase_ != Phase::idle || immediate_; }
  /// True if a trial is verified and waits for its turn to be timed.
  bool waits_for_turn() const { return phase_ == Phase::waiting; }
  bool is_timing() const { return phase_ == Phase::timing; }
  const std::optional<GivenUp>& given_up() const { return given_up_; }

  /// Begins a trial; starts a worker if there is none. The lane must not be busy.
  void give(const PlannedTrial& trial);
  void grant_turn();
  /// True if the idle worker of `other` may serve this lane: both have several devices, and the
  /// command is the same. A lane whose worker failed starts a fresh one.
  bool can_take_over(const Lane& other) const;
  /// Takes the worker of `other`, which is left without one.
  void take_over(Lane& other);

  /// True if a worker that was started by this command, and has no trial yet, may serve this lane.
  bool can_adopt(const WorkerCommand& command) const;
  void adopt(std::unique_ptr<WorkerProcess> worker, const protocol::Hello& hello);

  /// Reads the worker's output and checks the deadline. Returns the trial's result once there is
  /// one.
  std::optional<Result> step();

  /// Descriptors and deadline to wait for before the next step.
  void add_descriptors(std::vector<pollfd>& polled) const;
  std::optional<Deadline> deadline() const;

  /// Sets the expected UUIDs of the devices, in their order. By default those that the first worker
  /// sees count as right.
  void expect(std::vector<std::string> uuids) { uuids_ = std::move(uuids); }

  /// Stops the worker, so that it does not disturb the times of others. False if it does not stop.
  bool hold() { return !worker_ || worker_->pause(); }
  void go_on() {
    if (worker_) worker_->resume();
  }

  /// True if no other worker can replace the first one.
  bool is_once() const { return command_.once; }
  bool has_worker() const { return worker_ != nullptr; }
  std::optional<pid_t> worker_pid() const;
  /// Lets the worker leave, by force after `leave_s`. Frees its devices.
  void dismiss(double leave_s);

 private:
  // starting: waits for the hello; executing: for the result or for ready
  enum class Phase { idle, starting, executing, waiting, timing };

  void start();
  std::optional<Result> hear(const std::string& line);
  std::optional<Result> hear_hello(const protocol::Hello& hello);
  /// Describes a device that the worker sees no more, or another one in its place.
  std::optional<GivenUp> gone_device();
  Result take(Result result);
  Result failed_start(const std::string& why);
  Result end_of_worker();
  Result overrun();
  Result finish(Result result, bool keep_worker);

  std::vector<DeviceId> devices_;
  std::vector<DeviceId> occupied_;
  std::vector<std::string> uuids_;  // devices_ in the view of the first worker
  WorkerCommand command_;
  double timeout_s_;
  Phase phase_ = Phase::idle;
  PlannedTrial trial_;
  std::unique_ptr<WorkerProcess> worker_;
  std::vector<DeviceInfo> seen_;  // devices that the worker's hello lists
  bool wants_fresh_worker_ = false;
  Deadline deadline_;
  double left_s_ = 0;  // rest of the time-out, while waiting for a turn
  bool reference_is_asked_ = false;
  std::optional<Result> immediate_;
  OomWatch oom_;
  int failed_starts_ = 0;
  int losses_ = 0;  // in a row
  std::optional<GivenUp> given_up_;
};

/// Throws std::runtime_error for a worker of another protocol, or of another build than `build_id`;
/// an empty `build_id` accepts any build.
void check_hello(const protocol::Hello& hello, const std::string& build_id);

/// Result of a trial that ended outside the engine.
Result ended_as(Status status, const std::string& reason);
Result skipped(SkipCategory category, const std::string& reason);

/// "signal 11 (Segmentation fault): the last words"
std::string exit_summary(const WorkerProcess& worker);

}  // namespace assay
