#include "cli/exit_code.h"

namespace assay::cli {

ExitCode exit_code_of(const StatusCounts& counts, bool completed) {
  const auto any_of = [&](std::initializer_list<Status> statuses) {
    for (const Status status : statuses) {
      if (const auto found = counts.find(status); found != counts.end() && found->second > 0) {
        return true;
      }
    }
    return false;
  };
  using enum Status;
  if (any_of({fail, vacuous, flaky})) return wrong;
  if (any_of({crash, timeout, oom, device_lost, error}) || !completed) return infrastructure;
  return any_of({pass}) ? ok : absent;
}

}  // namespace assay::cli
