#include <fmt/format.h>

#include <random>
#include <utility>

#include "harness/execute/steps.h"

namespace assay::steps {
namespace {

/// From the operating system: no process that runs kernels can foretell it, and no two trials get
/// the same inputs.
std::uint64_t drawn_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

}  // namespace

void lay_timed_inputs(Work& work) {
  // The inputs of the last pass are in place: real data, never zeros, which run faster.
  work.enter(&PhaseSeconds::input);
  const EngineOptions& options = work.options();
  const std::uint64_t secret = options.timed_seed.value_or(drawn_seed());
  work.record().timed_seed = fmt::format("{:#x}", secret);
  work.rotation.emplace(work.trial, work.op(), secret, work.contents, options.takes_fresh_inputs());
  arm_for_timing(work.trial);  // the tensors of further sets
  Findings findings;
  findings.deviations =
      oracle::declared_for(options.accepted_deviations(), work.op(), work.record().implementation);
  findings.may_differ = may_differ(work);
  work.timed_judge.emplace(work.trial, *work.rotation, work.judge, options.checks, work.verified,
                           ~secret, std::move(findings));
}

void judge_timed_launches(Work& work) {
  const Checks& checks = work.options().checks;
  const std::string on(timed_launches);
  check_surroundings(work.trial, work.rotation->contents(), checks, on);
  launch_for_judge(work);
  work.timed_judge->finish(work.rotation->last());
  work.record().repeatable = work.timed_judge->repeatable();
  check_surroundings(work.trial, work.rotation->contents(), checks, on);
}

}  // namespace assay::steps
