#include "harness/supervise/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "harness/records/skip_category.h"

namespace assay {
namespace {

/// Time limit for a doubtful worker to leave by itself.
constexpr double doubtful_leave_s = 1;
/// Failed starts in a row before giving up. Each may take its time for the hello.
constexpr int max_failed_starts = 2;
/// Device losses in a row before giving up, each in a fresh worker.
constexpr int max_losses = 2;

double seconds_until(Deadline deadline) {
  return std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
}

std::string job_is_over(const std::string& why) {
  return "given up: the job is over, its process has ended: " + why;
}

/// Paths may have bytes that no message carries.
bool can_be_sent(const protocol::Conduct& conduct) {
  return std::get<protocol::Conduct>(protocol::decode_to_worker(protocol::encode(conduct))) ==
         conduct;
}

/// Throws for an answer to another trial, and for a pass that judged too little.
void check_answer(const Record& record, const PlannedTrial& trial) {
  if (record.case_id != trial.test.id() || record.device != lane_text(trial)) {
    throw protocol::Malformed("it is of '" + record.case_id + "' on '" + record.device + "'");
  }
  const OpInstance& op = trial.test.op;
  const auto launches = std::ssize(passes(op));
  const std::int64_t expected = launches * output_elements(op.signature);
  if (record.status == Status::pass && record.elements != expected) {
    throw protocol::Malformed(fmt::format("it is a pass over {} elements, not {}",
                                          record.elements.value_or(0), expected));
  }
}

}  // namespace

Result ended_as(Status status, const std::string& reason) {
  Result result;
  result.record.status = status;
  result.record.reason = reason;
  return result;
}

Result skipped(SkipCategory category, const std::string& reason) {
  Result result = ended_as(Status::skip, reason);
  result.record.skip_category = category;
  return result;
}

std::string exit_summary(const WorkerProcess& worker) {
  const std::string words = worker.last_words();
  return worker.exit_description() + (words.empty() ? "" : ": " + words);
}

void check_hello(const protocol::Hello& hello, const std::string& build_id) {
  const bool is_expected = build_id.empty() || hello.build_id == build_id;
  if (hello.protocol == protocol::version && is_expected) return;
  throw std::runtime_error(
      fmt::format("the worker is of another build: protocol {}, build '{}'; expected protocol {}, "
                  "build '{}'",
                  hello.protocol, hello.build_id, protocol::version, build_id));
}

bool Lane::can_take_over(const Lane& other) const {
  const bool are_of_several = devices_.size() > 1 && other.devices_.size() > 1;
  return are_of_several && !worker_ && !wants_fresh_worker_ && other.worker_ && !other.busy() &&
         !command_.once && command_.starts_the_same(other.command_);
}

void Lane::take_over(Lane& other) {
  worker_ = std::move(other.worker_);
  seen_ = std::move(other.seen_);
  occupied_ = std::exchange(other.occupied_, other.devices_);
  for (const DeviceId& id : devices_) {
    if (std::ranges::find(occupied_, id) == occupied_.end()) occupied_.push_back(id);
  }
  if (gone_device()) dismiss(doubtful_leave_s);  // a fresh worker may see it
}

bool Lane::can_adopt(const WorkerCommand& command) const {
  if (worker_ || wants_fresh_worker_ || command_.once) return false;
  return command_.starts_alike(command) && (!command_.conduct || can_be_sent(*command_.conduct));
}

void Lane::adopt(std::unique_ptr<WorkerProcess> worker, const protocol::Hello& hello) {
  worker_ = std::move(worker);
  seen_ = hello.devices;
  occupied_ = devices_;
  // A failure shows as the worker's end.
  if (command_.conduct) worker_->send(protocol::encode(*command_.conduct));
  if (gone_device()) dismiss(doubtful_leave_s);  // a fresh worker may see it
}

void Lane::give(const PlannedTrial& trial) {
  trial_ = trial;
  reference_is_asked_ = false;
  if (worker_) {
    worker_->receive();
    phase_ = Phase::executing;
    deadline_ = after(timeout_s_);
    // An unexpected line must not pass for the answer to this trial.
    std::string unasked;
    const bool is_sound = !worker_->silent() && !worker_->take_line(unasked);
    if (is_sound && worker_->send(protocol::encode(trial_))) {
      oom_.begin();
      return;
    }
    worker_->stop(0);
    const std::string why = exit_summary(*worker_);
    dismiss(0);  // it died or spoke while idle: not this trial's fault
    if (command_.once) {
      given_up_ = GivenUp{Status::device_lost, job_is_over(why), std::nullopt};
      immediate_ = ended_as(given_up_->status, given_up_->reason);
      return;
    }
  }
  start();
}

void Lane::start() {
  phase_ = Phase::starting;
  deadline_ = after(command_.hello_s);
  wants_fresh_worker_ = false;
  oom_.begin();
  try {
    worker_ = std::make_unique<WorkerProcess>(command_);
  } catch (const std::exception& error) {
    immediate_ = failed_start(error.what());
  }
}

std::optional<Result> Lane::step() {
  if (immediate_) return std::exchange(immediate_, std::nullopt);
  if (!worker_ || phase_ == Phase::idle) return std::nullopt;
  worker_->receive();
  for (std::string line; worker_->take_line(line);) {
    if (auto result = hear(line)) return result;
  }
  if (worker_->silent()) return end_of_worker();
  if (worker_->line_too_long()) {
    return finish(ended_as(Status::error, "the worker's answer has no end"), false);
  }
  // Checks the deadline after reading: an answer that waited in the pipe while the parent was busy
  // is in time.
  if (phase_ != Phase::waiting && seconds_until(deadline_) <= 0) return overrun();
  return std::nullopt;
}

std::optional<Result> Lane::hear(const std::string& line) {
  try {
    const auto message = protocol::decode_from_worker(line);
    if (const auto* hello = std::get_if<protocol::Hello>(&message)) {
      if (phase_ != Phase::starting) throw protocol::Malformed("a second hello");
      return hear_hello(*hello);
    }
    if (phase_ == Phase::starting) {
      return failed_start("a worker did not say hello first");
    }
    if (std::holds_alternative<protocol::Ready>(message)) {
      if (phase_ != Phase::executing || trial_.timing.empty()) {
        throw protocol::Malformed("nothing is to be timed");
      }
      left_s_ = seconds_until(deadline_);
      phase_ = Phase::waiting;
      return std::nullopt;
    }
    if (const auto* asked = std::get_if<protocol::ReferenceAsked>(&message)) {
      if (phase_ == Phase::waiting) throw protocol::Malformed("a question before the turn");
      reference_is_asked_ = asked->is_open;
      return std::nullopt;
    }
    if (const auto* unknown = std::get_if<protocol::UnknownCase>(&message)) {
      // From this build it would mean a planned case that does not run.
      if (command_.build_id == own_build_id()) throw protocol::Malformed(unknown->reason);
      return take(
          skipped(SkipCategory::not_built, skip_reason(SkipCategory::not_built, unknown->reason)));
    }
    auto result = std::get<Result>(message);
    check_answer(result.record, trial_);
    return take(std::move(result));
  } catch (const std::exception& error) {
    if (phase_ == Phase::starting) return failed_start(error.what());
    return finish(ended_as(Status::error, std::string("the worker's answer: ") + error.what()),
                  false);
  }
}

std::optional<Result> Lane::hear_hello(const protocol::Hello& hello) {
  check_hello(hello, command_.build_id);
  failed_starts_ = 0;
  seen_ = hello.devices;
  given_up_ = gone_device();
  if (given_up_) return finish(ended_as(given_up_->status, given_up_->reason), false);
  phase_ = Phase::executing;
  deadline_ = after(timeout_s_);
  worker_->send(protocol::encode(trial_));  // a failure shows as the worker's end
  return std::nullopt;
}

std::optional<GivenUp> Lane::gone_device() {
  // A driver that loses a device may give its index to the next one.
  std::vector<std::string> uuids = uuids_;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const DeviceId& id = devices_[i];
    const auto seen = std::ranges::find(seen_, to_text(id), &DeviceInfo::device);
    const bool is_there = seen != seen_.end();
    if (is_there && uuids_.empty()) uuids.push_back(seen->uuid);
    if (is_there && seen->uuid == uuids.at(i)) continue;
    const std::string reason =
        to_text(id) + " is gone: a fresh worker " +
        (is_there ? "finds another device in its place, " + seen->uuid : "does not see it");
    return GivenUp{Status::device_lost, reason, id};
  }
  uuids_ = std::move(uuids);
  return std::nullopt;
}

void Lane::grant_turn() {
  phase_ = Phase::timing;
  deadline_ = after(left_s_);
  worker_->send(protocol::encode(protocol::Turn{}));
}

Result Lane::take(Result result) {
  const Status status = result.record.status;
  losses_ = status == Status::device_lost ? losses_ + 1 : 0;
  if (losses_ >= max_losses) {
    given_up_ = GivenUp{Status::device_lost, "given up: " + result.record.reason, std::nullopt};
  }
  const bool keep = class_of(status) != StatusClass::broken && !result.leave_worker;
  return finish(std::move(result), keep || command_.once);
}

Result Lane::failed_start(const std::string& why) {
  if (++failed_starts_ >= max_failed_starts) {
    given_up_ = GivenUp{Status::error, "given up: " + why, std::nullopt};
  }
  return finish(ended_as(Status::error, why), false);
}

Result Lane::end_of_worker() {
  worker_->stop(doubtful_leave_s);
  if (phase_ == Phase::starting) {
    return failed_start("a worker did not start: " + exit_summary(*worker_));
  }
  if (worker_->killed_by_another() && oom_.happened()) {
    return finish(ended_as(Status::oom, "the kernel ended the worker for want of host memory"),
                  false);
  }
  return finish(ended_as(Status::crash, "the worker ended: " + exit_summary(*worker_)), false);
}

Result Lane::overrun() {
  const bool gone = worker_->stop(0);
  if (phase_ == Phase::starting) {
    return failed_start(fmt::format("a worker said nothing for {} s", command_.hello_s));
  }
  if (gone && reference_is_asked_) {
    return finish(ended_as(Status::error,
                           fmt::format("the reference of the op had not answered when {} s were "
                                       "over: take a smaller size, or more time by --timeout",
                                       timeout_s_)),
                  false);
  }
  if (gone) {
    return finish(
        ended_as(Status::timeout, fmt::format("no answer within {} s; the worker was ended by {}",
                                              timeout_s_, worker_->exit_description())),
        false);
  }
  const std::string reason =
      fmt::format("no answer within {} s; worker {} did not end even when sent KILL", timeout_s_,
                  worker_->pid());
  given_up_ = GivenUp{Status::device_lost, "given up: a worker that cannot be ended holds it",
                      devices_.size() == 1 ? std::optional(devices_.front()) : std::nullopt};
  return finish(ended_as(Status::timeout, reason), false);
}

Result Lane::finish(Result result, bool keep_worker) {
  phase_ = Phase::idle;
  if (!keep_worker) {
    wants_fresh_worker_ = true;
    dismiss(doubtful_leave_s);
    if (command_.once && !given_up_) {
      given_up_ = GivenUp{Status::device_lost, job_is_over(result.record.reason), std::nullopt};
    }
  }
  return result;
}

void Lane::dismiss(double leave_s) {
  phase_ = Phase::idle;
  immediate_.reset();
  if (worker_) worker_->stop(leave_s);
  worker_.reset();
  occupied_ = devices_;
}

void Lane::add_descriptors(std::vector<pollfd>& polled) const {
  if (!worker_) return;
  for (const int fd : worker_->descriptors()) {
    if (fd >= 0) polled.push_back({fd, POLLIN, 0});
  }
}

std::optional<Deadline> Lane::deadline() const {
  if (immediate_) return Deadline{};
  if (!busy() || phase_ == Phase::waiting) return std::nullopt;
  return deadline_;
}

std::optional<pid_t> Lane::worker_pid() const {
  return worker_ ? std::optional(worker_->pid()) : std::nullopt;
}

}  // namespace assay
