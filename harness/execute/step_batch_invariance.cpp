#include <fmt/format.h>

#include "harness/execute/smaller_batches.h"
#include "harness/execute/steps.h"

namespace assay::steps {

void find_batch_invariance(Work& work) {
  const Checks& checks = work.options().checks;
  if (!checks.on(Check::batch_invariance)) return;
  work.enter(&PhaseSeconds::execution);
  const SmallerBatches found = launch_smaller_batches(work.op(), work.lane, work.contents.front(),
                                                      work.verified.front(), checks);
  if (found.launched.empty()) return;
  work.record().batch_invariant = found.other_bits.empty();
  work.record().other_bits_at_rows = found.other_bits_text();
  if (found.other_bits.empty() || !work.options().batch_invariant) return;
  throw WrongResult{Check::batch_invariance, "",
                    fmt::format("not batch-invariant: of fewer rows, some have other bits, first "
                                "{}",
                                found.first_difference)};
}

}  // namespace assay::steps
