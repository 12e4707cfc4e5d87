#include "session/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/text/si.h"
#include "session/console/stderr_message.h"

namespace assay {
namespace {

using std::chrono::steady_clock;

constexpr int max_bad_shown = 50;

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

}  // namespace

Progress::Progress(const Outcomes& outcomes, std::span<const PlannedTrial> plan,
                   const Options& options)
    : outcomes_(outcomes),
      options_(options),
      line_(options.quiet),
      work_left_(plan, options.cap_s, options.second_takes_share) {}

void Progress::begin(const RunInfo& run) {
  planned_ = run.planned;
  done_ = outcomes_.tally().finished;
  start_clock();
  if (options_.quiet) return;
  say("{} trials into {}\n", planned_, run.directory.string());
  if (done_ > 0) say("{} of them already have rows\n", done_);
}

void Progress::result(const Result& result) {
  const Record& record = result.record;
  if (work_left_.finish(record)) ++done_;
  if (record.is_bad() && ++bad_ > max_bad_shown) {
    if (bad_ == max_bad_shown + 1) {
      line_.erase();
      say("more than {} bad results: the others are in results.csv alone\n", max_bad_shown);
    }
  } else if (record.is_bad()) {  // shown also when quiet
    line_.erase();
    const std::string attempt =
        options_.attempts == 1
            ? ""
            : fmt::format(" (attempt {} of {})", record.attempt, options_.attempts);
    say("{}{}: {} on {}: {}\n    {}\n", name(record.status), attempt, record.case_id, record.device,
        record.reason, record.replay);
  } else if (!record.expected_failure.empty() && !options_.quiet) {
    line_.erase();
    say("expected {}: {} on {}: {}\n", name(record.status), record.case_id, record.device,
        record.expected_failure);
  }
  draw(record.case_id);
}

void Progress::held(const Record& first_take) {
  work_left_.hold(first_take);
  ++done_;
  draw(first_take.case_id);
}

void Progress::end(const RunInfo& /*run*/) { line_.erase(); }

void Progress::draw(const std::string& what) {
  if (!line_.is_due()) return;  // to count all outcomes takes long after each of thousands
  const std::string count = fmt::format("{}/{}", done_, planned_);
  const double part =
      static_cast<double>(done_) / static_cast<double>(std::max<std::int64_t>(1, planned_));
  const std::string held =
      work_left_.held() == 0 ? "" : fmt::format(", {} to be timed again", work_left_.held());
  const std::string left =
      duration_text(std::ceil(work_left_.seconds(seconds_since(started_)))) + " left";
  line_.show(part, count + "  " + left, what,
             fmt::format("{}: {}{}; about {}", count, outcomes_.tally().text(), held, left));
}

}  // namespace assay
