#include "harness/execute/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include "harness/execute/clock_check.h"
#include "harness/execute/fill_record.h"
#include "harness/execute/foreign_checks.h"
#include "harness/execute/memory.h"
#include "harness/execute/output_hash.h"
#include "harness/execute/smaller_batches.h"
#include "harness/execute/timed_judge.h"
#include "harness/execute/trial.h"
#include "harness/execute/verify_launch.h"
#include "harness/measure/contention.h"
#include "harness/oracle/tolerance.h"
#include "harness/placement/device_guard.h"
#include "harness/placement/scenarios/scenario.h"
#include "harness/records/skip_category.h"
#include "kernels/core/clock.h"
#include "kernels/core/status.h"
#include "kernels/core/version.h"

namespace assay {
namespace {

/// Least length of a block's sample: few samples must each average over more. And of a sample of
/// others' kernels: what the judge sees of it has a message too, which then is a small share.
constexpr double long_sample_s = 1e-3;

/// Counters of energy are updated ten to fifty times a second.
constexpr double energy_time_s = 2;
constexpr double energy_cap_s = 6;
constexpr double idle_time_s = 1;

/// Inputs of timed launches, and the judge of what they leave. Null for a scenario, whose steps
/// judge themselves.
struct TimedData {
  ClockCheck& clock;
  Rotation* rotation = nullptr;
  TimedJudge* judge = nullptr;
};

class TrialMeter final : public measure::Meter {
 public:
  TrialMeter(Trial& trial, const TimedData& data, PhaseClock& clock, bool cold, bool goes_both_ways,
             Trial* yardstick)
      : trial_(trial),
        data_(data),
        clock_(clock),
        cold_(cold),
        goes_both_ways_(goes_both_ways),
        yardstick_(yardstick) {}
  /// Warm-up and samples alike: nothing tells a launch that is judged, or counts, from another.
  double time_s(std::int64_t launches) override {
    if (launches == 0 || data_.rotation == nullptr) return timed(launches, 0).told_s;
    clock_.enter(&PhaseSeconds::comparison);
    trial_.pause();
    data_.judge->before_sample();
    clock_.enter(&PhaseSeconds::input);
    const Turns& turns = data_.rotation->next(launches);
    data_.judge->lay_decoys(turns);
    const Timed sample = timed(launches, turns.first);
    trial_.pause();
    clock_.enter(&PhaseSeconds::comparison);
    data_.judge->after_sample(turns, sample.seen_s);
    data_.rotation->count_sample(sample.seen_s);
    clock_.enter(&PhaseSeconds::sampling);
    return sample.told_s;
  }
  std::vector<double> way_times_s() const override {
    return goes_both_ways_ ? rank_times_s_ : std::vector<double>{};
  }
  std::vector<double> rank_times_s() const override {
    return trial_.has_clock_of_each_rank() ? rank_times_s_ : std::vector<double>{};
  }
  DeviceCondition condition() override { return trial_.condition(); }
  std::optional<double> yardstick_s() override {
    if (yardstick_ == nullptr) return std::nullopt;
    clock_.enter(&PhaseSeconds::limits);
    const double seconds = yardstick_->time_s(1);
    clock_.enter(&PhaseSeconds::sampling);
    return seconds;
  }
  double now_s() override { return steady_s(); }
  std::string_view launched_by() const { return launched_by_; }

 private:
  struct Timed {
    double told_s;
    double seen_s;
  };
  Timed timed(std::int64_t launches, std::size_t first_set) {
    clock_.enter(&PhaseSeconds::sampling);
    if (cold_ && launches > 0) trial_.flush_caches();  // not within what is seen
    const double begin_s = system_call_s();
    const double told_s = trial_.time_s(launches, false, first_set);
    const Timed timed{told_s, system_call_s() - begin_s};
    if (launches > 0) {  // whose judge may launch again
      rank_times_s_ = trial_.rank_times_s();
      launched_by_ = trial_.launched_by();
    }
    data_.clock.add(launches, timed.told_s, timed.seen_s);
    return timed;
  }

  Trial& trial_;
  TimedData data_;
  PhaseClock& clock_;
  bool cold_;
  bool goes_both_ways_;
  Trial* yardstick_;  // null: none
  // Results of the last sample.
  std::vector<double> rank_times_s_;
  std::string_view launched_by_;
};

/// From the operating system: no process that runs kernels can foretell it, and no two trials get
/// the same inputs.
std::uint64_t drawn_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

void end_as(Record& record, Status status, const std::string& reason) {
  record.status = status;
  record.reason = reason;
}

void skip(Record& record, SkipCategory category, std::string_view why) {
  end_as(record, Status::skip, skip_reason(category, why));
  record.skip_category = category;
}

/// Ends the record as a failure of the device, or as a skip if the device lacks support.
void fail(Record& record, const DeviceError& error) {
  switch (error.failure()) {
    case Failure::not_here:
      return skip(record, SkipCategory::not_here, error.what());
    case Failure::unsupported:
      return skip(record, SkipCategory::unsupported, error.what());
    case Failure::out_of_memory:
      return end_as(record, Status::oom, error.what());
    case Failure::device_lost:
      return end_as(record, Status::device_lost, error.what());
    case Failure::internal:
      return end_as(record, Status::error, error.what());
  }
  __builtin_unreachable();
}

/// Ends the record as a wrong result.
void caught(Record& record, Status status, Check check, const std::string& on,
            const std::string& reason) {
  end_as(record, status, reason);
  record.caught_by = check;
  record.caught_on = on;
}

/// One pass shows reads past the end of an input, and kernels that need aligned tensors. Not the
/// last, whose tensors are timed too.
Addresses addresses_of(int pass) { return pass == 0 ? Addresses::odd : Addresses::aligned; }

}  // namespace

/// Judges each pass. Leaves the inputs and right outputs of the last one. Fills `record` with the
/// findings also when it throws.
void Engine::verify(const PlannedTrial& planned, Trial& trial, Judge& judge, Record& record,
                    RankInputs& inputs, std::vector<HostTensor>& verified) {
  const OpInstance& op = planned.test.op;
  Findings findings;
  findings.deviations = oracle::declared_for(options_.deviations, op, record.implementation);
  const auto keep = [&] {
    record.oracle = findings.oracles;
    fill_verdict(record, op, findings.verdict);
    fill_precision(record, findings.precision);
  };
  try {
    for (int pass = 0; pass < std::ssize(passes(op)); ++pass) {
      clock_.enter(&PhaseSeconds::setup);
      trial.lay(addresses_of(pass));
      clock_.enter(&PhaseSeconds::input);
      if (pass == 0) {
        inputs = generate_inputs(op, pass, options_.seed, trial.ranks());
      } else {
        regenerate_inputs(op, pass, options_.seed, inputs);
      }
      judge.launch(trial, pass, inputs, findings, verified);
    }
  } catch (...) {
    keep();
    throw;
  }
  keep();
  record.reason = deviations_seen(findings);
  if (!findings.notes.empty()) {
    record.reason += (record.reason.empty() ? "" : ", ") + findings.notes;
  }
  if (findings.decoys && !findings.decoys->empty()) {
    throw VacuousResult{findings.decoys->front() + " would have passed too"};
  }
  record.output_hash = output_hash(verified);
}

void Engine::find_batch_invariance(const OpInstance& op, std::span<placement::Place* const> lane,
                                   const RankInputs& inputs,
                                   const std::vector<HostTensor>& verified, Record& record) {
  if (!options_.checks.on(Check::batch_invariance)) return;
  const SmallerBatches found =
      launch_smaller_batches(op, lane, inputs, verified.front(), options_.checks);
  if (found.launched.empty()) return;
  record.batch_invariant = found.other_bits.empty();
  record.other_bits_at_rows = found.other_bits_text();
  if (found.other_bits.empty() || !options_.batch_invariant) return;
  throw WrongResult{Check::batch_invariance, "",
                    fmt::format("not batch-invariant: of fewer rows, some have other bits, first "
                                "{}",
                                found.first_difference)};
}

std::optional<double> Engine::idle_power_w(const PlannedTrial& planned, const Trial& trial) {
  const auto [known, is_new] = idle_power_w_.try_emplace(lane_text(planned));
  if (!is_new) return known->second;
  measure::EnergySeries series;
  const double begin_s = steady_s();
  for (double now_s = begin_s; now_s < begin_s + idle_time_s; now_s = steady_s()) {
    series.add(now_s, 0, trial.condition());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return known->second = series.result().power_w;
}

Trial* Engine::yardstick_of(const PlannedTrial& planned, placement::Place& place) {
  const std::string& id = planned.yardstick.case_id;
  if (planned.timing.empty() || id.empty() || options_.energy) return nullptr;
  if (Trial* known = yardsticks_.find(id, place.text())) return known;
  const PlannedTrial own{.test = parse_case_id(id), .lane = {place.id()}, .timing = ""};
  const OpInstance& op = own.test.op;
  if (!Yardsticks::may_keep(op, place.device())) return nullptr;
  placement::Place* lane[] = {&place};
  auto trial = std::make_unique<Trial>(op, lane);
  Judge judge(op, options_.checks, references_, id, clock_);
  Record record;
  RankInputs inputs;
  std::vector<HostTensor> verified;
  try {
    verify(own, *trial, judge, record, inputs, verified);
    arm_for_timing(*trial);
    trial->time_s(1);
    check_last_launch(*trial, verified, options_.checks);
  } catch (const WrongResult& wrong) {
    throw std::runtime_error(fmt::format("its limit, {}, is wrong: {}", id, wrong.reason));
  }
  return &yardsticks_.keep(id, place.text(), std::move(trial));
}

/// Times the trial and judges its timed launches. Throws WrongResult.
measure::Measurement Engine::measure_trial(const PlannedTrial& planned, Trial& trial, Judge& judge,
                                           std::vector<RankInputs>& contents,
                                           const std::vector<HostTensor>& verified,
                                           Trial* yardstick, const WaitForTurn& wait_for_turn,
                                           Record& record) {
  const OpInstance& op = planned.test.op;
  // The inputs of the last pass are in place: real data, never zeros, which run faster.
  clock_.enter(&PhaseSeconds::input);
  const std::uint64_t secret = options_.timed_seed.value_or(drawn_seed());
  record.timed_seed = fmt::format("{:#x}", secret);
  std::optional<Rotation> rotation;
  std::optional<TimedJudge> timed_judge;
  if (!trial.is_scenario()) {
    rotation.emplace(trial, op, secret, contents, options_.fresh_inputs);
    arm_for_timing(trial);  // the tensors of further sets
    Findings findings;
    findings.deviations = oracle::declared_for(options_.deviations, op, record.implementation);
    timed_judge.emplace(trial, *rotation, judge, options_.checks, verified, ~secret,
                        std::move(findings));
  }
  clock_.pause();
  wait_for_turn();
  if (options_.energy) record.idle_power_w = idle_power_w(planned, trial);
  clock_.enter(&PhaseSeconds::sampling);
  const bool cold = planned.timing == cold_timing;
  ClockCheck clock_check(trial, options_.checks, options_.foreign_kernels);
  TrialMeter meter(
      trial, {clock_check, rotation ? &*rotation : nullptr, timed_judge ? &*timed_judge : nullptr},
      clock_, cold, op.signature.is_mirrored, yardstick);
  const auto sets = static_cast<std::int64_t>(trial.sets());
  measure::Policy policy{.turns = sets, .cap_s = options_.cap_s, .block = options_.block};
  if (options_.block > 0 || options_.foreign_kernels) policy.sample_s = long_sample_s;
  if (options_.energy) {
    policy.min_time_s = energy_time_s;
    policy.cap_s = std::max(policy.cap_s, energy_cap_s);
  }
  if (rotation && rotation->has_own_inputs()) policy.max_launches = sets;
  // Launches of an in-place op on their own result would grow without end: only the first one
  // after a restore counts. Only the first one after a flush is cold.
  if (trial.in_place() || cold) policy.max_launches = 1;
  const measure::LostTime before = measure::lost_time();
  const double begin_s = steady_s();
  measure::Measurement measurement = measure::sample(meter, policy);
  record.contended = measure::is_contended(before, measure::lost_time(), steady_s() - begin_s);
  record.launched_by = meter.launched_by();
  record.input_sets = sets;
  clock_.enter(&PhaseSeconds::comparison);
  if (rotation) {
    check_surroundings(trial, rotation->contents(), options_.checks, std::string(timed_launches));
    timed_judge->finish(rotation->last());
    record.repeatable = timed_judge->repeatable();
    if (!timed_judge->oracles().empty()) record.oracle += "; " + timed_judge->oracles();
    check_surroundings(trial, rotation->contents(), options_.checks, std::string(timed_launches));
  } else {
    record.repeatable = false;
    check_last_launch(trial, verified, options_.checks);
    check_surroundings(trial, contents, options_.checks, "last_launch");
    record.repeatable = true;
  }
  clock_check.check_series();
  if (clock_check.allows_for_contention()) record.contended = true;
  record.untold_share = clock_check.untold_share();
  return measurement;
}

/// Runs the steps of every trial. Fills `result` as it goes: earlier findings survive an error.
void Engine::run_steps(const PlannedTrial& planned, Trial& trial,
                       std::span<placement::Place* const> lane, const WaitForTurn& wait_for_turn,
                       Result& result) {
  const OpInstance& op = planned.test.op;
  const bool timed = !planned.timing.empty();
  Judge judge(op, options_.checks, references_,
              fmt::format("{} seed={} {}", planned.test.id(), options_.seed, version::build_id),
              clock_);
  std::vector<RankInputs> contents(1);  // of each set of tensors, or of all
  std::vector<HostTensor> verified;
  verify(planned, trial, judge, result.record, contents.front(), verified);

  if (options_.soak > 0) {
    result.record.repeatable = false;
    clock_.enter(&PhaseSeconds::execution);
    soak(trial, contents.front(), verified, options_.checks, options_.soak);
  }

  if (options_.foreign_kernels) {
    clock_.enter(&PhaseSeconds::comparison);
    check_late_writes(trial, options_.checks);
  }

  if ((timed && options_.block == 0) || options_.batch_invariant) {
    clock_.enter(&PhaseSeconds::execution);
    find_batch_invariance(op, lane, contents.front(), verified, result.record);
  }

  Trial* const yardstick = yardstick_of(planned, *lane.front());

  arm_for_timing(trial);
  measure::Measurement measurement;
  if (timed) {
    measurement = measure_trial(planned, trial, judge, contents, verified, yardstick, wait_for_turn,
                                result.record);
  } else {
    if (trial.in_place()) trial.tensors().restore(contents.front());
    clock_.enter(&PhaseSeconds::execution);
    trial.launch();
    trial.synchronize();
    clock_.enter(&PhaseSeconds::comparison);
    result.record.repeatable = false;
    check_last_launch(trial, verified, options_.checks);
    check_surroundings(trial, contents, options_.checks, "last_launch");
    result.record.repeatable = true;
  }
  if (timed) {  // not earlier: wrong work has no times
    fill_times(result.record, op, measurement);
    fill_share(result.record, planned.yardstick.launches, measurement);
    if (options_.energy) fill_energy(result.record, op, measurement.energy);
    result.samples = std::move(measurement.samples);
  }
}

void Engine::run_soak(const PlannedTrial& planned, placement::Place& place, Result& result) {
  const auto verify_it = [&](Trial& trial, Judge& judge, Record& record) {
    RankInputs inputs;
    std::vector<HostTensor> verified;
    verify(planned, trial, judge, record, inputs, verified);
  };
  soaks_.run(planned, place, {options_.seed, options_.checks, references_, clock_, verify_it},
             result);
}

Result Engine::execute(const PlannedTrial& planned, const WaitForTurn& wait_for_turn) {
  const OpInstance& op = planned.test.op;
  Result result;
  Record& record = result.record;
  identify(record, planned, options_.seed);
  record.flops = op.signature.flops;
  record.bytes = op.signature.bytes;
  if (op.op->collective) record.ranks = op.signature.ranks;
  try {
    clock_.enter(&PhaseSeconds::setup);
    std::vector<placement::Place*> lane;
    for (const DeviceId& id : planned.lane) lane.push_back(&devices_.open(id));
    const placement::DeviceGuard current(*lane.front());
    record.device_name = lane.front()->device().hardware();
    // The parent does not know it of a rank's device. One that a module borrows from another
    // backend tells of that one.
    for (std::size_t i = 0; i < lane.size(); ++i) {
      const DeviceInfo& info = lane[i]->device().info();
      const bool is_own = info.device == to_text(planned.lane[i]);
      if (is_own && !info.stand_in.empty()) record.stand_in = info.stand_in;
    }
    yardsticks_.make_room(op, lane.front()->device());
    if (planned.soak_s > 0) {
      run_soak(planned, *lane.front(), result);
      record.status = Status::pass;
      result.references = references_.take_count();
      result.phases = clock_.take();
      return result;
    }
    Trial trial(op, lane);
    record.implementation = trial.implementation();
    record.wrong_algorithms = trial.wrong_algorithms();
    record.transport = trial.transport();
    const double needed = host_bytes(op, lane.front()->device().is_host());
    if (const auto why = too_little_memory_now(needed)) {
      skip(record, SkipCategory::too_little_memory, *why);
    } else {
      run_steps(planned, trial, lane, wait_for_turn, result);
      record.implementation = trial.implementation();  // a scenario knows it only now
      record.wrong_algorithms = trial.wrong_algorithms();
      record.transport = trial.transport();
      clock_.enter(&PhaseSeconds::setup);  // the trial's memory is released here
      record.status = Status::pass;        // perhaps with a reason: a declared deviation
    }
  } catch (const WrongResult& wrong) {
    caught(record, Status::fail, wrong.check, wrong.on, wrong.reason);
    result.leave_worker = wrong.spoiled_process;
  } catch (const placement::ScenarioFailure& broken) {
    caught(record, Status::fail, Check::placement_layer, "", "placement: " + broken.reason);
  } catch (const VacuousResult& nothing_shown) {
    caught(record, Status::vacuous, Check::decoys, "", nothing_shown.reason);
  } catch (const DeviceError& error) {
    fail(record, error);
  } catch (const std::bad_alloc&) {
    end_as(record, Status::oom, "no host memory for the inputs or the reference");
  } catch (const std::exception& error) {
    end_as(record, Status::error, error.what());
  }
  result.references = references_.take_count();
  result.phases = clock_.take();
  return result;
}

}  // namespace assay
