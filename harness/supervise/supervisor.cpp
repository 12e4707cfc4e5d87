#include "harness/supervise/supervisor.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "harness/records/replay.h"
#include "harness/supervise/affinity.h"
#include "harness/supervise/orphans.h"
#include "kernels/core/clock.h"
#include "kernels/core/worth_a_fork.h"
#include "kernels/ops/defined.h"

namespace assay {
namespace {

using std::chrono::steady_clock;

/// Bounds a wait: signals that arrive just before it do not end it, nor does a worker that ends
/// while its children hold its pipes.
constexpr int max_wait_ms = 200;
/// Disturbed second takes in a row after which the machine counts as no quieter.
constexpr int max_disturbed_takes = 4;

bool overlap(const std::vector<DeviceId>& a, const std::vector<DeviceId>& b) {
  return std::ranges::any_of(
      a, [&](const DeviceId& id) { return std::ranges::find(b, id) != b.end(); });
}

/// True if another worker of the lane may take the trial at the same time: it times nothing, and
/// needs little memory.
bool can_be_shared(const PlannedTrial& trial) {
  constexpr double max_bytes = 64 << 20;
  return trial.timing.empty() && trial.skip_reason.empty() &&
         trial.test.op.signature.bytes <= max_bytes;
}

/// Row of a trial that its plan skips.
Result skipped_as_planned(const PlannedTrial& trial) {
  const bool is_refused = !refusal_of(trial.test.op.op->name).empty();
  return skipped(is_refused ? SkipCategory::unsupported : SkipCategory::too_few_devices,
                 trial.skip_reason);
}

void wait_for(std::vector<pollfd>& polled, Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
  const auto wait_ms = std::clamp<long>(left.count(), 0, max_wait_ms);
  poll(polled.data(), polled.size(), static_cast<int>(wait_ms));
}

}  // namespace

Supervisor::~Supervisor() {
  for (auto& queue : queues_) queue->lane.dismiss(queue->lane.busy() ? 0 : usual_leave_s);
  end_orphans({});
}

void Supervisor::Queue::open_next() {
  open = std::move(trials.front());
  trials.pop_front();
  started_at = utc_now();
  began_s = steady_s();
}

Supervisor::Queue& Supervisor::queue_of(const std::vector<DeviceId>& lane) {
  const bool once = traits_of(options_.backends, lane.front().backend).single_worker;
  const std::vector<DeviceId> served = once ? all_devices(lane.front().backend) : lane;
  for (auto& queue : queues_) {
    if (queue->lane.devices() == served) return *queue;
  }
  queues_.push_back(std::make_unique<Queue>(
      Queue{.lane = Lane(served, command_for(served, once), options_.timeout_s)}));
  return *queues_.back();
}

WorkerCommand Supervisor::command_for(const std::vector<DeviceId>& served, bool once) const {
  WorkerCommand command = options_.worker;
  command.once = once;
  command.processors = restricting(nearest_processors(served, run_.devices));
  options_.for_lane(command, served);
  return command;
}

/// Adds further workers to lanes of the host with so many checks that their start is worth it.
void Supervisor::add_helpers() {
  constexpr std::ptrdiff_t checks_of_a_helper = 64;
  constexpr int max_workers = 8;  // of a lane: each has a thread for every core
  const std::size_t own_queues = queues_.size();
  for (std::size_t i = 0; i < own_queues; ++i) {
    Queue& queue = *queues_[i];
    const std::vector<DeviceId>& served = queue.lane.devices();
    const BackendTraits& traits = traits_of(options_.backends, served.front().backend);
    if (queue.helps != nullptr || served.size() > 1 || traits.single_worker ||
        traits.memory != MemorySpace::host) {
      continue;
    }
    const bool takes_times = std::ranges::any_of(
        queue.trials, [](const PlannedTrial& trial) { return !trial.timing.empty(); });
    const auto helps_it = [&](const auto& other) { return other->helps == &queue; };
    auto workers = std::ranges::count_if(queues_, helps_it) + (takes_times ? 0 : 1);
    const auto wanted = 1 + std::ranges::count_if(queue.trials, can_be_shared) / checks_of_a_helper;
    const auto most = std::min<std::ptrdiff_t>({wanted, options_.lanes, max_workers});
    if (most <= 1) continue;
    WorkerCommand command = command_for(served, false);
    // With a worker for each core, further threads of the judge would only be in the way.
    const bool on_all_cores = most >= std::thread::hardware_concurrency();
    if (on_all_cores) command.environment.emplace_back(one_thread_name, "1");
    if (on_all_cores && !takes_times) queue.lane = Lane(served, command, options_.timeout_s);
    options_.for_checks(command);
    for (; workers < most; ++workers) {
      queues_.push_back(std::make_unique<Queue>(
          Queue{.lane = Lane(served, command, options_.timeout_s), .helps = &queue}));
    }
    queue.leaves_checks = takes_times && std::ranges::any_of(queues_, helps_it);
  }
}

/// Moves the next trial of its lane to an idle helper, unless another worker has to take it.
void Supervisor::take_a_check(Queue& helper) {
  std::deque<PlannedTrial>& trials = helper.helps->trials;
  const bool is_free = !helper.lane.busy() && helper.trials.empty();
  if (!is_free || trials.empty() || !can_be_shared(trials.front())) return;
  // The lane itself tells of trials that cannot be taken.
  if (why_given_up(helper) != nullptr) return;
  helper.trials.push_back(std::move(trials.front()));
  trials.pop_front();
}

std::vector<DeviceId> Supervisor::all_devices(const std::string& kind) const {
  std::vector<DeviceId> devices;
  for (const DeviceInfo& device : run_.devices) {
    if (const auto id = parse_device_id(device.device); id && id->backend == kind) {
      devices.push_back(*id);
    }
  }
  return devices;
}

/// Writes rows for all open trials when the launcher is about to end this process.
PlanEnd Supervisor::end_of_launch() {
  const std::string reason = "the launcher ended the job";
  end_all_second_takes();
  for (auto& queue : queues_) {
    if (queue->lane.busy()) conclude(*queue, ended_as(Status::device_lost, reason));
    while (!queue->trials.empty()) {
      queue->open_next();
      const bool is_skip = !queue->open.skip_reason.empty();
      conclude(*queue,
               is_skip ? skipped_as_planned(queue->open) : ended_as(Status::device_lost, reason));
    }
  }
  // Dismisses workers last: they may be slow, and the launcher does not wait.
  for (auto& queue : queues_) queue->lane.dismiss(0);
  return PlanEnd::interrupted;
}

PlanEnd Supervisor::execute(std::span<const PlannedTrial> plan) {
  for (auto& queue : queues_) queue->has_begun = false;
  for (const PlannedTrial& trial : plan) queue_of(trial.lane).trials.push_back(trial);
  add_helpers();
  execution_began_s_ = steady_s();
  second_takes_s_ = 0;
  for (;;) {
    if (options_.interrupted() && options_.is_launched) return end_of_launch();
    if (options_.interrupted()) {
      // Nobody needs the workers' open work.
      for (auto& queue : queues_) queue->lane.dismiss(0);
      end_all_second_takes();
      return PlanEnd::interrupted;
    }
    begin_trials();
    grant_turns();
    if (all_done()) break;
    wait();
    for (auto& queue : queues_) step(*queue);
  }
  end_all_second_takes();
  const bool cut = std::ranges::any_of(queues_, [](auto& queue) { return !queue->trials.empty(); });
  for (auto& queue : queues_) queue->trials.clear();
  if (failed_fast_) return PlanEnd::failed_fast;
  return cut ? PlanEnd::enough : PlanEnd::completed;
}

bool Supervisor::all_done() const {
  return std::ranges::all_of(queues_, [&](const auto& queue) {
    return !queue->lane.busy() &&
           (stopping_ || (queue->trials.empty() && queue->second_takes.empty()));
  });
}

bool Supervisor::leaves_to_helpers(const Queue& queue) const {
  return queue.leaves_checks && can_be_shared(queue.trials.front()) &&
         std::ranges::any_of(queues_, [&](const auto& other) {
           return other->helps == &queue && why_given_up(*other) == nullptr;
         });
}

void Supervisor::begin_trials() {
  // A verified lane waits for the checks of other lanes to end; a new check would delay it.
  const bool somebody_waits =
      !options_.overlap_timings && std::ranges::any_of(queues_, [](auto& q) {
        return q->lane.waits_for_turn() || q->lane.is_timing();
      });
  for (auto& queue : queues_) {
    begin_second_takes(*queue);
    if (queue->helps != nullptr && !somebody_waits) take_a_check(*queue);
    while (!queue->lane.busy() && !queue->trials.empty() && !stopping_) {
      if (leaves_to_helpers(*queue)) break;
      if (options_.enough()) {
        stopping_ = true;
        return;
      }
      const PlannedTrial& next = queue->trials.front();
      const bool needs_worker = next.skip_reason.empty() && why_given_up(*queue) == nullptr;
      if (needs_worker && (somebody_waits || !may_start(*queue))) break;
      begin_trial(*queue);
    }
  }
}

/// Once a lane has no other trial, queues the second takes that the budget allows.
void Supervisor::begin_second_takes(Queue& queue) {
  if (queue.lane.busy() || !queue.trials.empty()) return;
  queue.has_begun = false;
  if (queue.second_takes.empty()) return;
  const double elapsed_s = steady_s() - execution_began_s_;
  const double budget_s = options_.second_takes_share * elapsed_s - second_takes_s_;
  deliver_first_takes(queue.second_takes.take_unaffordable(budget_s));
  second_takes_s_ += queue.second_takes.wall_s();
  for (PlannedTrial& trial : queue.second_takes.trials()) queue.trials.push_back(std::move(trial));
}

bool Supervisor::may_start(Queue& queue) {
  int working = 0;
  for (const auto& other : queues_) {
    if (other.get() == &queue) continue;
    const bool is_of_lane = are_of_one_lane(*other, queue);
    const bool is_in_turns = is_of_lane || other->leaves_checks;  // waits while helpers work
    if (is_in_turns ? other->lane.busy() : other->is_unfinished()) ++working;
    if (!is_of_lane && other->is_unfinished() &&
        overlap(other->lane.occupied(), queue.lane.occupied())) {
      return false;
    }
  }
  if (working >= options_.lanes) return false;
  take_over_a_worker(queue);
  take_standby(queue);
  for (const auto& other : queues_) {
    const bool is_in_the_way = other.get() != &queue && !are_of_one_lane(*other, queue) &&
                               !other->is_unfinished() &&
                               overlap(other->lane.occupied(), queue.lane.occupied());
    if (is_in_the_way) other->lane.dismiss(usual_leave_s);  // an idle context would hold memory
  }
  return true;
}

/// Takes the idle worker of another lane: a fresh one needs seconds to make a context on each GPU.
/// Prefers one that would have to leave, then the one that occupies the most devices.
void Supervisor::take_over_a_worker(Queue& queue) {
  const auto merit = [&](const Queue& other) {
    const auto& occupied = other.lane.occupied();
    return std::pair(overlap(occupied, queue.lane.devices()), occupied.size());
  };
  Queue* best = nullptr;
  for (const auto& other : queues_) {
    if (other->is_unfinished() || !queue.lane.can_take_over(other->lane)) continue;
    if (best == nullptr || merit(*other) > merit(*best)) best = other.get();
  }
  if (best != nullptr) queue.lane.take_over(best->lane);
}

/// Goes on with the worker that listed the devices, in place of a fresh one.
void Supervisor::take_standby(Queue& queue) {
  Standby* const standby = options_.standby.get();
  if (standby == nullptr || !standby->worker || !queue.lane.can_adopt(standby->command)) return;
  queue.lane.adopt(std::move(standby->worker), standby->hello);
}

const GivenUp* Supervisor::why_given_up(const Queue& queue) const {
  if (queue.lane.given_up()) return &*queue.lane.given_up();
  for (const DeviceId& id : queue.lane.devices()) {
    if (const auto lost = lost_devices_.find(id); lost != lost_devices_.end()) return &lost->second;
  }
  return nullptr;
}

void Supervisor::begin_trial(Queue& queue) {
  queue.open_next();
  if (!queue.open.skip_reason.empty()) {
    conclude(queue, skipped_as_planned(queue.open));
  } else if (const GivenUp* why = why_given_up(queue)) {
    if (queue.second_takes.holds(queue.open)) {
      SecondTakes::Held held = queue.second_takes.take(queue.open);
      deliver(std::move(held.first), held.trial);
      return;
    }
    conclude(queue, ended_as(why->status, why->reason));
  } else {
    queue.lane.give(queue.open);
    queue.has_begun = true;
    drove_job_ = drove_job_ || queue.lane.is_once();
  }
}

void Supervisor::grant_turns() {
  // Timing needs an idle machine: turns begin one at a time, after every check has ended.
  for (auto& queue : queues_) {
    const bool others_work = std::ranges::any_of(queues_, [&](const auto& other) {
      return other != queue && other->lane.busy() && !other->lane.waits_for_turn();
    });
    if (queue->lane.waits_for_turn() && (options_.overlap_timings || !others_work)) {
      queue->lane.grant_turn();
    }
  }
}

void Supervisor::wait() const {
  std::vector<pollfd> polled;
  Deadline first = after(1);
  for (const auto& queue : queues_) {
    if (!queue->lane.busy()) continue;
    queue->lane.add_descriptors(polled);
    if (const auto deadline = queue->lane.deadline()) first = std::min(first, *deadline);
  }
  wait_for(polled, first);
}

void Supervisor::step(Queue& queue) {
  if (auto result = queue.lane.step()) {
    if (const auto& gone = queue.lane.given_up(); gone && gone->device) {
      lost_devices_.emplace(*gone->device, *gone);
    }
    conclude(queue, std::move(*result));
  }
}

/// Sets trial, run and device of the row, whatever the worker said.
void Supervisor::identify_row(Record& record, const Queue& queue) const {
  identify(record, queue.open, options_.seed);
  record.run_id = run_.run_id;
  record.started_at = queue.started_at;
  record.host = run_.host;
  for (const DeviceId& id : queue.open.lane) {
    const auto device = std::ranges::find(run_.devices, to_text(id), &DeviceInfo::device);
    if (device == run_.devices.end()) continue;
    if (!device->stand_in.empty()) record.stand_in = device->stand_in;
    if (id != queue.open.lane.front()) continue;
    if (record.device_name.empty()) record.device_name = device->name;
    record.device_uuid = device->uuid;
  }
}

/// Sets what only the parent knows of a result, and its final status.
void Supervisor::conclude_record(Result& result, const Queue& queue, bool is_second) const {
  Record& record = result.record;
  identify_row(record, queue);
  record.wall_s = steady_s() - queue.began_s;
  if (record.time_median_s) record.second_take = is_second;
  if (record.status == Status::pass && queue.open.attempt > 1) {
    record.status = Status::flaky;
    record.reason = "passed on attempt " + std::to_string(queue.open.attempt);
  }
  options_.rate(queue.open, result);
  if (class_of(record.status) == StatusClass::broken) record.caught_by = Check::supervision;
  record.expected_failure.clear();
  if (record.is_bad()) record.expected_failure = options_.expected_failure(record);
}

Supervisor::Next Supervisor::next_after(const Record& record, const Queue& queue,
                                        bool is_second) const {
  // Not one that has taken more than the share by now: it would only wait for its row.
  const double share_s = options_.second_takes_share * (steady_s() - execution_began_s_);
  if (!is_second && record.wall_s <= share_s && SecondTakes::is_wanted(record)) {
    return Next::second_take;
  }
  if (record.is_bad()) {
    const bool may_retry =
        record.status != Status::flaky && queue.open.attempt <= options_.retries &&
        why_given_up(queue) == nullptr && !(options_.is_launched && options_.interrupted());
    if (may_retry) return Next::retry;
    if (options_.fail_fast) return Next::end_of_run;
  }
  const bool is_broken = class_of(record.status) == StatusClass::broken;
  return is_broken && options_.break_ends_lane ? Next::end_of_lane : Next::other_trial;
}

void Supervisor::conclude(Queue& queue, Result result) {
  PlannedTrial trial = queue.open;
  const bool is_second = queue.second_takes.holds(trial);
  if (is_second) phases_ += queue.second_takes.take(trial).first.phases;
  conclude_record(result, queue, is_second);
  const Next next = next_after(result.record, queue, is_second);
  if (next == Next::second_take) {
    for (Sink* sink : sinks_) sink->held(result.record);
    queue.second_takes.hold(trial, std::move(result));
    return;
  }
  const bool is_disturbed = SecondTakes::is_wanted(result.record);
  deliver(std::move(result), trial);
  if (is_second) {
    queue.disturbed_takes = is_disturbed ? queue.disturbed_takes + 1 : 0;
    if (queue.disturbed_takes >= max_disturbed_takes) end_second_takes(queue);
  }
  if (next == Next::retry) {
    ++trial.attempt;
    queue.trials.push_front(std::move(trial));
  }
  if (next == Next::end_of_run) stopping_ = failed_fast_ = true;
  if (next == Next::end_of_lane) queue.trials.clear();
}

void Supervisor::deliver_first_takes(std::vector<SecondTakes::Held> held) {
  for (SecondTakes::Held& one : held) deliver(std::move(one.first), one.trial);
}

/// Second takes that are not begun are no loss: their first takes are results.
void Supervisor::end_second_takes(Queue& queue) {
  std::erase_if(queue.trials,
                [&](const PlannedTrial& trial) { return queue.second_takes.holds(trial); });
  deliver_first_takes(queue.second_takes.take_all());
}

void Supervisor::end_all_second_takes() {
  for (auto& queue : queues_) end_second_takes(*queue);
}

void Supervisor::deliver(Result result, const PlannedTrial& trial) {
  Record& record = result.record;
  record.replay = replay_command(record, options_.replay_flags(record));
  options_.complete(trial, record);
  references_.computed += result.references.computed;
  references_.shared += result.references.shared;
  phases_ += result.phases;
  const double begin_s = steady_s();
  for (Sink* sink : sinks_) sink->result(result);
  phases_.output += steady_s() - begin_s;

  std::vector<pid_t> workers;
  for (const auto& queue : queues_) {
    if (const auto pid = queue->lane.worker_pid()) workers.push_back(*pid);
  }
  leaks_.sample(workers);
  end_orphans(workers);
}

}  // namespace assay
