#include "session/ab/ab_exit_code.h"

#include "reports/compare/paired_summary.h"

namespace assay::cli {

ExitCode exit_code_of(const ab::Outcome& outcome, bool fail_on_inconclusive) {
  PairedTally counts = tally(outcome.cases);
  if (counts[PairedVerdict::wrong] + counts[PairedVerdict::missing] > 0) return wrong;
  if (counts[PairedVerdict::broken] > 0 || outcome.interrupted) return infrastructure;
  if (counts[PairedVerdict::regressed] > 0) return regression;
  if (fail_on_inconclusive && is_undecided(tally(outcome.cases))) return undecided;
  const std::int64_t compared = counts[PairedVerdict::improved] +
                                counts[PairedVerdict::equivalent] +
                                counts[PairedVerdict::inconclusive];
  return compared > 0 ? ok : absent;
}

}  // namespace assay::cli
