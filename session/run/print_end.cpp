#include "session/run/print_end.h"

#include <string>

#include "harness/records/replay.h"
#include "reports/text/harness_cost.h"
#include "reports/text/overview.h"
#include "reports/text/time_spent.h"
#include "session/console/say_verdict.h"
#include "session/console/stderr_message.h"
#include "session/process/interrupt.h"

namespace assay {

void print_end(const RunInfo& run, const Outcomes& outcomes, std::size_t said, bool quiet) {
  const Tally tally = outcomes.tally();
  if (run.interrupted) {
    say("interrupted by signal {}: {} of {} trials have rows; complete it: assay run --resume {}\n",
        interrupting_signal(), tally.finished, run.planned, shell_word(run.directory.string()));
  }
  if (!quiet) say_text("\n" + overview(outcomes.trials()) + "\n");
  for (std::size_t i = said; i < run.notes.size(); ++i) say("note: {}\n", run.notes[i]);
  if (!quiet) say("time: {}\n", time_spent(run));
  if (const std::string cost = harness_cost(outcomes.trials()); !quiet && !cost.empty()) {
    say("harness: {}\n", cost);
  }
  const RunVerdict verdict = run_verdict(run, tally);
  say_verdict(verdict.word, verdict.why);
  say("{}\n", (run.directory / "results.csv").string());
  if (!quiet) say("as a page: assay report {}\n", shell_word(run.directory.string()));
}

}  // namespace assay
