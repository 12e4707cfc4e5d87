#include "harness/run/supervisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "assay/version.h"
#include "harness/clock.h"
#include "harness/replay.h"

namespace assay {
namespace {

/// Starting a GPU's runtime can take many seconds on a busy machine.
constexpr double hello_s = 60;
/// What a worker that was asked to leave, or sent TERM, may take.
constexpr double leave_s = 5;
constexpr double term_s = 2;
/// In a row, on one lane. Each may have taken hello_s, and the next would too.
constexpr int most_failed_starts = 2;

Deadline after(double seconds) {
  using namespace std::chrono;
  return steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(seconds));
}

/// A trial that ended outside the engine.
Result ended_as(Status status, const std::string& reason) {
  Result result;
  result.record.status = status;
  result.record.reason = reason;
  return result;
}

std::string obituary(const WorkerProcess& worker) {
  const std::string words = worker.last_words();
  return worker.how_it_ended() + (words.empty() ? "" : ": " + words);
}

/// An answer to another question, or a pass that judged too little, is no answer.
void check_answer(const Record& record, const PlannedTrial& trial) {
  if (record.case_id != trial.test.id() || record.device != to_text(trial.lane)) {
    throw protocol::Malformed("it is of '" + record.case_id + "' on '" + record.device + "'");
  }
  const OpInstance& op = trial.test.op;
  const std::int64_t ranks = op.op->collective ? op.signature.ranks : 1;
  const auto passes = std::ssize(op.op->passes);
  const std::int64_t expected = passes * ranks * op.signature.outputs[0].elements();
  if (record.status == Status::pass && record.elements != expected) {
    throw protocol::Malformed(fmt::format("it is a pass over {} elements, not {}",
                                          record.elements.value_or(0), expected));
  }
}

/// The first line of a worker, checked: it must be of this very build.
protocol::Hello hear_hello(WorkerProcess& worker, const std::function<bool()>& interrupted) {
  std::string line;
  const auto outcome = worker.read_line(line, after(hello_s), interrupted);
  if (outcome != WorkerProcess::Outcome::line) {
    worker.stop(0, term_s);
    throw std::runtime_error(outcome == WorkerProcess::Outcome::timed_out
                                 ? fmt::format("a worker said nothing for {} s", hello_s)
                                 : "a worker did not start: " + obituary(worker));
  }
  const auto message = protocol::decode_from_worker(line);
  const auto* hello = std::get_if<protocol::Hello>(&message);
  if (hello == nullptr) throw std::runtime_error("a worker did not say hello first");
  if (hello->protocol != protocol::version || hello->build_id != version::build_id) {
    throw std::runtime_error(
        fmt::format("the worker is of another build: protocol {}, build '{}'; this is protocol {}, "
                    "build '{}'",
                    hello->protocol, hello->build_id, protocol::version, version::build_id));
  }
  return *hello;
}

}  // namespace

protocol::Hello probe(const WorkerCommand& command) {
  WorkerProcess worker(command);
  protocol::Hello hello = hear_hello(worker, [] { return false; });
  worker.stop(leave_s, term_s);
  return hello;
}

Supervisor::~Supervisor() {
  if (worker_) worker_->stop(leave_s, term_s);
}

bool Supervisor::execute(std::span<const PlannedTrial> plan) {
  const bool completed =
      std::ranges::all_of(plan, [&](const PlannedTrial& trial) { return execute(trial); });
  // After a Ctrl-C nobody waits for what the worker was doing.
  if (worker_) worker_->stop(completed ? leave_s : 0, term_s);
  worker_.reset();
  return completed;
}

bool Supervisor::execute(const PlannedTrial& trial) {
  if (options_.interrupted()) return false;
  const std::string started_at = utc_now();
  Result result =
      trial.skip_reason.empty() ? ask_worker(trial) : ended_as(Status::skip, trial.skip_reason);
  if (interrupted_) return false;
  deliver(std::move(result), trial, started_at);
  return true;
}

void Supervisor::start_worker(const std::vector<DeviceId>& lane) {
  if (worker_ && worker_lane_ == lane) return;
  if (worker_) worker_->stop(leave_s, term_s);  // idle contexts would hold memory
  if (worker_lane_ != lane) failed_starts_ = 0;
  worker_lane_ = lane;
  if (failed_starts_ >= most_failed_starts) {
    throw std::runtime_error("given up: " + last_start_error_);
  }
  try {
    worker_ = std::make_unique<WorkerProcess>(options_.worker);
    hear_hello(*worker_, options_.interrupted);
    failed_starts_ = 0;
  } catch (const std::exception& error) {
    worker_.reset();
    ++failed_starts_;
    last_start_error_ = error.what();
    throw;
  }
}

Result Supervisor::ask_worker(const PlannedTrial& trial) {
  try {
    start_worker(trial.lane);
  } catch (const std::exception& error) {
    interrupted_ = options_.interrupted();
    return ended_as(Status::error, error.what());
  }
  std::string line;
  auto outcome = WorkerProcess::Outcome::ended;
  bool sent = worker_->send(protocol::encode(trial));
  if (!sent) {  // it died while idle, which is no fault of this trial
    worker_.reset();
    try {
      start_worker(trial.lane);
    } catch (const std::exception& error) {
      return ended_as(Status::error, error.what());
    }
    sent = worker_->send(protocol::encode(trial));
  }
  if (sent) {
    outcome = worker_->read_line(line, after(options_.timeout_s), options_.interrupted);
  }
  Result result;
  switch (outcome) {
    case WorkerProcess::Outcome::line:
      try {
        result = std::get<Result>(protocol::decode_from_worker(line));
        check_answer(result.record, trial);
        return result;
      } catch (const std::exception& error) {
        result = ended_as(Status::error, std::string("the worker's answer: ") + error.what());
      }
      break;
    case WorkerProcess::Outcome::too_long:
      result = ended_as(Status::error, "the worker's answer has no end");
      break;
    case WorkerProcess::Outcome::ended:
      worker_->stop(leave_s, term_s);
      result = ended_as(Status::crash, "the worker ended: " + obituary(*worker_));
      break;
    case WorkerProcess::Outcome::timed_out: {
      const bool gone = worker_->stop(0, term_s);
      result = ended_as(Status::timeout,
                        fmt::format("no answer within {} s; the worker was {}", options_.timeout_s,
                                    gone ? "ended by " + worker_->how_it_ended()
                                         : "sent KILL and still did not end"));
      break;
    }
    case WorkerProcess::Outcome::interrupted:
      interrupted_ = true;
      break;
  }
  worker_.reset();  // the next trial gets a fresh one
  return result;
}

void Supervisor::deliver(Result result, const PlannedTrial& trial, const std::string& started_at) {
  const OpInstance& op = trial.test.op;
  Record& record = result.record;
  record.run_id = run_.run_id;
  record.started_at = started_at;
  record.host = run_.host;
  record.suite = trial.test.suite;
  record.case_id = trial.test.id();
  record.op = op.op->name;
  record.dtype = name(op.dtype);
  record.params = op.params.text(";");
  record.device = to_text(trial.lane);
  for (const DeviceInfo& device : run_.devices) {
    if (device.device != to_text(trial.lane.front())) continue;
    record.device_name = device.name;
    record.device_uuid = device.uuid;
  }
  record.timing = trial.timing;
  record.attempt = trial.attempt;
  record.repeat = trial.repeat;
  record.seed = options_.seed;
  record.replay = replay_command(record, options_.replay_flags);
  for (Sink* sink : sinks_) sink->result(result);
}

}  // namespace assay
