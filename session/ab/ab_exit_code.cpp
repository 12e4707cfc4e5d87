#include "session/ab/ab_exit_code.h"

#include "reports/compare/paired_summary.h"

namespace assay {

ExitCode exit_code_of(const ab::Outcome& outcome, bool fail_on_inconclusive) {
  using enum PairedVerdict;
  const PairedTally counts = tally(outcome.cases);
  const auto has = [&](auto... any) { return (counts.contains(any) || ...); };
  return exit_code_of(Ending{.any_wrong = has(PairedVerdict::wrong, missing),
                             .any_broken = has(broken),
                             .completed = !outcome.interrupted,
                             .any_regression = has(regressed),
                             .is_undecided = fail_on_inconclusive && is_undecided(counts),
                             .any_right = has(improved, equivalent, inconclusive)});
}

}  // namespace assay
