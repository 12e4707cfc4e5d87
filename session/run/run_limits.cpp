#include "session/run/run_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "harness/measure/demand.h"
#include "kernels/core/clock.h"
#include "reports/files/table_file.h"
#include "reports/text/si.h"
#include "session/console/stderr_message.h"
#include "session/limits/measure_limits.h"
#include "session/plan/estimate.h"
#include "session/workers/run_choices.h"
#include "session/workers/worker_command.h"

namespace assay {
namespace {

/// Share of a run's budget.
constexpr double max_of_budget = 0.1;

bool is_wanted(const Job& job) {
  return !job.options.no_limits &&
         find_profile(job.options.selection.cases.profile).measures_limits;
}

/// Notes a limit without a figure, unless it is a known failure.
void note_failure(const Limit& limit, const Record& record, RunLimits& limits, RunInfo& run) {
  if (!record.is_bad()) return;
  limits.is_wrong = limits.is_wrong || class_of(limit.status) == StatusClass::wrong;
  run.notes.push_back(fmt::format("limit {} of {} could not be measured: {}: {}", name(limit.limit),
                                  limit.device, name(limit.status), limit.reason));
}

/// Recalls the failures of a resumed run: a wrong limit stays wrong until it is measured again and
/// is right, even if no remaining trial needs it.
void recall_failures(const std::vector<Limit>& known, const LimitPlan& plan,
                     const SupervisorOptions& options, RunLimits& limits, RunInfo& run) {
  std::map<std::pair<std::string, std::string>, const Limit*> last;  // by device and case
  for (const Limit& limit : known) last[{limit.device, limit.case_id}] = &limit;
  for (const auto& entry : last) {
    const Limit& limit = *entry.second;
    const bool comes_again = std::ranges::any_of(plan.trials, [&](const PlannedTrial& trial) {
      return lane_text(trial) == limit.device && trial.test.id() == limit.case_id;
    });
    if (comes_again) continue;
    Record record{.case_id = limit.case_id, .device = limit.device, .status = limit.status};
    if (record.is_bad()) record.expected_failure = options.expected_failure(record);
    note_failure(limit, record, limits, run);
  }
}

/// Command for limits: they are not soaked, use our own kernels, and have a time cap of their own.
WorkerCommand worker_of_limits(SelectionOptions selection) {
  selection.soak = 0;
  selection.kernels.clear();  // limits are the machine's
  selection.fresh_inputs = false;
  return worker_command(selection, limit_cap_s);
}

/// Amount of a limit that a launch of its own case needs.
double amount_of(const Limit& limit) {
  const Signature signature = parse_case_id(limit.case_id).op.signature;
  const LimitKind* const kind = limit.limit.kind();
  return kind != nullptr && rate_kind(*kind) == RateKind::arithmetic ? signature.flops
                                                                     : signature.bytes;
}

/// The shortest case of the limit: a trial gets the most turns with it.
Yardstick yardstick_of(const measure::LimitBook& book, const measure::LimitBook::Bound& bound) {
  Yardstick shortest;
  double shortest_s = std::numeric_limits<double>::infinity();
  for (const Limit* limit : book.all(bound.limit->device, *bound.limit->limit.kind())) {
    const double amount = amount_of(*limit);
    const double launch_s = amount / *limit->value;
    if (amount <= 0 || launch_s >= shortest_s) continue;
    shortest_s = launch_s;
    // Its own rate may be below the limit's.
    shortest = {limit->case_id, bound.amount / *bound.limit->value / launch_s};
  }
  return shortest;
}

}  // namespace

void pair_with_limits(const measure::LimitBook& book, Job& job) {
  if (!job.options.selection.kernels.empty()) return;  // the workers have no others
  for (PlannedTrial& trial : job.plan) {
    const auto device =
        std::ranges::find(job.run.devices, to_text(trial.lane.front()), &DeviceInfo::device);
    if (trial.timing.empty() || device == job.run.devices.end()) continue;
    const auto bound = book.bound(trial.test.op, *device);
    if (bound) trial.yardstick = yardstick_of(book, *bound);
  }
}

RunLimits measure_run_limits(Job& job, const SupervisorOptions& options) {
  RunLimits limits;
  if (!is_wanted(job)) return limits;
  const std::filesystem::path path = job.run.directory / "limits.csv";
  std::vector<Limit> known;
  if (job.start == Start::resumed) known = read_table_file<Limit>(path, LastRow::maybe_torn);
  for (const Limit& limit : known) limits.book.add(limit);
  const LimitPlan plan = plan_limits(job.run.devices, job.backends,
                                     {.trials = job.plan,
                                      .measured = known,
                                      .own_kernels = job.options.selection.kernels.empty()});
  recall_failures(known, plan, options, limits, job.run);
  if (plan.trials.empty()) return limits;
  const double needed_s = estimate_s(plan.trials, limit_cap_s);
  if (job.options.budget_s > 0 && needed_s > max_of_budget * job.options.budget_s) {
    job.run.notes.push_back(fmt::format("the budget leaves no {} for measuring limits",
                                        duration_text(std::ceil(needed_s))));
    return limits;
  }
  if (!job.options.quiet) {
    say("measuring {} limits first, about {}; --no-limits leaves them out\n", plan.trials.size(),
        duration_text(std::ceil(needed_s)));
  }
  const double begin_s = steady_s();
  TableFile<Limit> csv(path, std::filesystem::exists(path) ? Start::resumed : Start::fresh);
  SupervisorOptions of_limits = options;
  of_limits.worker = worker_of_limits(job.options.selection);
  share_choices(job.run.directory, of_limits.worker);
  of_limits.standby.reset();  // which goes on with the run: these workers leave before it
  of_limits.retries = 0;
  of_limits.fail_fast = false;
  measure_limits(plan, job.run, std::move(of_limits),
                 [&](const Limit& limit, const Record& record) {
                   csv.add(limit);
                   limits.book.add(limit);
                   note_failure(limit, record, limits, job.run);
                 });
  job.run.phases.limits += steady_s() - begin_s;
  return limits;
}

}  // namespace assay
