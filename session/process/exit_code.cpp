#include "session/process/exit_code.h"

namespace assay {

ExitCode exit_code_of(const Ending& ending) {
  if (ending.any_wrong) return wrong;
  if (ending.any_broken || !ending.completed) return infrastructure;
  if (ending.any_regression) return regression;
  if (ending.is_undecided) return undecided;
  return ending.any_right && !ending.any_missing ? ok : absent;
}

ExitCode exit_code_of(const Tally& tally, bool completed, bool allow_flaky, Part part) {
  const std::int64_t flaky = tally.count(Status::flaky);
  return exit_code_of({
      .any_wrong = tally.count(StatusClass::wrong) > (allow_flaky ? flaky : 0),
      .any_broken = tally.count(StatusClass::broken) > 0,
      .completed = completed,
      .any_missing = part == Part::whole && !tally.untested.empty(),
      // A known failure has been looked at, a skip has not.
      .any_right = tally.count(Status::pass) + flaky + tally.expected > 0,
  });
}

int with_infrastructure_failure(int exit_code) {
  return exit_code == wrong ? wrong : infrastructure;
}

}  // namespace assay
