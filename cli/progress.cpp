#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/estimate.h"
#include "cli/say.h"

namespace assay::cli {
namespace {

using std::chrono::steady_clock;

constexpr auto line_interval = std::chrono::seconds(5);
constexpr int bar_cells = 24;

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

std::size_t terminal_columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::begin(const RunInfo& run) {
  planned_ = run.planned;
  started_ = last_line_ = steady_clock::now();
  if (quiet_) return;
  say("{} trials into {}\n", planned_, run.directory.string());
}

void Progress::result(const Result& result) {
  const Record& record = result.record;
  ++done_;
  tally_.add(record.status);
  records_.push_back(record);
  const bool is_bad = record.status != Status::pass && record.status != Status::skip;
  if (is_bad) {  // shown also when quiet
    if (!quiet_) erase();
    say("{}: {} on {}: {}\n    {}\n", name(record.status), record.case_id, record.device,
        record.reason, record.replay);
  }
  if (!quiet_) draw(record.case_id);
}

void Progress::end(const RunInfo& /*run*/) {
  if (!quiet_) erase();
}

void Progress::erase() {
  if (terminal_) say("\r\033[K");
}

void Progress::draw(const std::string& what) {
  const double left_s =
      seconds_since(started_) / static_cast<double>(done_) * static_cast<double>(planned_ - done_);
  if (!terminal_) {
    if (steady_clock::now() - last_line_ < line_interval) return;
    last_line_ = steady_clock::now();
    say("{}/{}: {}; about {} left\n", done_, planned_, tally_.text(), human_duration(left_s));
    return;
  }
  const auto filled =
      static_cast<std::size_t>(bar_cells * done_ / std::max<std::int64_t>(1, planned_));
  std::string line = fmt::format("[{}{}] {}/{}  {} left  {}", std::string(filled, '='),
                                 std::string(bar_cells - filled, ' '), done_, planned_,
                                 human_duration(left_s), what);
  line.resize(std::min(line.size(), terminal_columns() - 1));  // a wrapped line cannot be erased
  say("\r\033[K{}", line);
}

}  // namespace assay::cli
