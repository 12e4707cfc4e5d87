#include "session/process/exit_code.h"

namespace assay::cli {

ExitCode exit_code_of(const Tally& tally, bool completed, bool allow_flaky, Part part) {
  const std::int64_t flaky = tally.count(Status::flaky);
  if (tally.count(StatusClass::wrong) > (allow_flaky ? flaky : 0)) return wrong;
  if (tally.count(StatusClass::broken) > 0 || !completed) return infrastructure;
  if (part == Part::whole && !tally.untested.empty()) return absent;
  // A known failure has been looked at, a skip has not.
  return tally.count(Status::pass) + flaky + tally.expected > 0 ? ok : absent;
}

int with_infrastructure_failure(int exit_code) {
  return exit_code == wrong ? wrong : infrastructure;
}

}  // namespace assay::cli
