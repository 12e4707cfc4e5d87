#include "harness/execute/steps.h"

#include "harness/execute/fill_record.h"
#include "harness/execute/foreign_checks.h"

namespace assay {
namespace {

struct Step {
  bool (*applies)(const Work&);
  void (*run)(Work&);
};

bool always(const Work&) { return true; }
bool is_timed(const Work& work) { return work.is_timed(); }
bool is_not_timed(const Work& work) { return !work.is_timed(); }
bool has_timed_inputs(const Work& work) {
  return work.is_timed() && !work.trial.op().op->is_scenario;
}
bool has_only_a_last_launch(const Work& work) { return !has_timed_inputs(work); }
bool soaks(const Work& work) { return work.options().soak > 0; }
bool is_foreign(const Work& work) { return work.options().has_foreign_kernels(); }
bool wants_batches(const Work& work) {
  const bool by_the_way = work.is_timed() && work.options().block == 0;
  return by_the_way || work.options().batch_invariant;
}
bool wants_yardstick(const Work& work) {
  return work.is_timed() && !work.planned.yardstick.case_id.empty() && !work.options().energy;
}
bool wants_idle_power(const Work& work) { return work.is_timed() && work.options().energy; }

void arm(Work& work) { arm_for_timing(work.trial); }

constexpr Step in_order[] = {
    {always, steps::verify},
    {soaks, steps::launch_repeatedly},
    {is_foreign, steps::find_late_writes},
    {wants_batches, steps::find_batch_invariance},
    {wants_yardstick, steps::find_yardstick},
    {always, arm},
    {is_not_timed, steps::launch_once_more},
    {has_timed_inputs, steps::lay_timed_inputs},
    {is_timed, steps::wait_for_turn},
    {wants_idle_power, steps::measure_idle_power},
    {is_timed, steps::sample},
    {has_timed_inputs, steps::judge_timed_launches},
    {has_only_a_last_launch, steps::judge_last_launch},
    {is_timed, steps::check_clock},
    {always, steps::tell_of_later_launches},
    {is_timed, steps::fill_figures},
};

}  // namespace

void take_steps(Work& work) {
  for (const Step& step : in_order) {
    if (step.applies(work)) step.run(work);
  }
}

namespace steps {
namespace {

/// Samples of a machine whose speed changes are taken so often again.
constexpr int max_retakes = 2;

}  // namespace

const Deviation* may_differ(const Work& work) {
  return oracle::launches_may_differ(work.options().accepted_deviations(), work.op(),
                                     work.record().implementation);
}

void launch_repeatedly(Work& work) {
  work.record().repeatable = false;
  work.enter(&PhaseSeconds::execution);
  soak(work.trial, work.contents.front(), work.verified, work.options().checks,
       work.options().soak);
}

void find_late_writes(Work& work) {
  work.enter(&PhaseSeconds::comparison);
  check_late_writes(work.trial, work.options().checks);
}

void launch_once_more(Work& work) {
  if (work.trial.in_place()) work.trial.tensors().restore(work.contents.front());
  work.enter(&PhaseSeconds::execution);
  work.trial.launch();
  work.trial.synchronize();
}

void judge_last_launch(Work& work) {
  work.enter(&PhaseSeconds::comparison);
  work.record().repeatable = false;
  try {
    check_last_launch(work.trial, work.verified, work.options().checks);
    work.record().repeatable = true;
  } catch (const WrongResult&) {
    const Deviation* const deviation = may_differ(work);
    if (deviation == nullptr) throw;
    const auto last_pass = static_cast<int>(std::ssize(passes(work.op()))) - 1;
    Findings findings;
    work.judge.timed(work.trial, 0, last_pass, work.contents.front(), "last_launch", findings);
  }
  check_surroundings(work.trial, work.contents, work.options().checks, "last_launch");
}

void wait_for_turn(Work& work) {
  work.shop.clock.pause();
  work.wait_for_turn();
}

void check_clock(Work& work) {
  const auto is_slower_now = [&](int retakes) {
    using Retakes = ClockCheck::Retakes;
    return work.clock_check->check_series(retakes > 0 ? Retakes::left : Retakes::none) ==
           ClockCheck::Outcome::slower_now;
  };
  for (int retakes = max_retakes; is_slower_now(retakes); --retakes) {
    sample(work);
    has_timed_inputs(work) ? judge_timed_launches(work) : judge_last_launch(work);
  }
  if (work.clock_check->allows_for_contention()) work.record().contended = true;
  work.record().untold_share = work.clock_check->untold_share();
}

void tell_of_later_launches(Work& work) {
  Record& record = work.record();
  if (record.repeatable == false) add_deviation(record.reason, *may_differ(work));
  if (work.timed_judge && !work.timed_judge->oracles().empty()) {
    record.oracle += "; " + work.timed_judge->oracles();
  }
}

void fill_figures(Work& work) {
  Record& record = work.record();
  fill_times(record, work.op(), work.measurement);
  fill_share(record, work.planned.yardstick.launches, work.measurement);
  if (work.options().energy) fill_energy(record, work.op(), work.measurement.energy);
  for (const placement::Place* place : work.lane) {
    add_mode_notes(record, place->device().info());
  }
  work.result.samples = std::move(work.measurement.samples);
}

}  // namespace steps
}  // namespace assay
