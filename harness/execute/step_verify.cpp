#include <utility>

#include "harness/execute/fill_record.h"
#include "harness/execute/output_hash.h"
#include "harness/execute/steps.h"
#include "kernels/ops/offers.h"

namespace assay::steps {
namespace {

/// One pass shows reads past the end of an input, and kernels that need aligned tensors; one those
/// that take all for as aligned as the first. Not the last, whose tensors are timed too, nor the
/// one before it: kernels are made anew for other tensors, and one that keeps a result is to show.
Addresses addresses_of(const OpInstance& op, int pass, int passes) {
  if (pass == 0) return Addresses::odd;
  const bool is_between = pass == 1 && passes > 3;
  return is_between && may_be_offered(*op.op) ? Addresses::uneven : Addresses::aligned;
}

void judge_passes(Work& work, Findings& findings) {
  const OpInstance& op = work.op();
  const std::uint64_t seed = work.options().seed;
  RankInputs& inputs = work.contents.front();
  const Passes& all = work.judge.passes();
  const auto number = static_cast<int>(std::ssize(all));
  for (int pass = 0; pass < number; ++pass) {
    work.enter(&PhaseSeconds::setup);
    work.trial.lay(addresses_of(op, pass, number));
    work.enter(&PhaseSeconds::input);
    if (pass == 0) {
      inputs = generate_inputs(op, pass, seed, work.trial.ranks());
    } else {
      regenerate_inputs(op, all[static_cast<std::size_t>(pass)], pass, seed, inputs);
    }
    work.judge.launch(work.trial, pass, inputs, findings, work.verified);
  }
}

}  // namespace

void verify(Work& work) {
  const OpInstance& op = work.op();
  Record& record = work.record();
  Findings findings;
  findings.deviations =
      oracle::declared_for(work.options().accepted_deviations(), op, record.implementation);
  const auto keep = [&] {
    record.oracle = findings.oracles;
    fill_verdict(record, op, findings.verdict);
    fill_precision(record, findings.precision);
  };
  try {
    judge_passes(work, findings);
  } catch (...) {
    keep();
    throw;
  }
  keep();
  record.reason = deviations_seen(findings);
  if (!findings.notes.empty()) {
    record.reason += (record.reason.empty() ? "" : ", ") + findings.notes;
  }
  if (const std::string decoy = findings.decoy(); !decoy.empty()) {
    throw VacuousResult{decoy + " would have passed too"};
  }
  record.output_hash = output_hash(work.verified);
}

}  // namespace assay::steps
