#include "session/console/status_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "session/console/stderr_message.h"
#include "session/console/terminal.h"

namespace assay {
namespace {

using std::chrono::steady_clock;

constexpr auto line_interval = std::chrono::seconds(5);
constexpr int bar_cells = 24;

}  // namespace

StatusLine::StatusLine(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), last_line_(steady_clock::now()) {}

bool StatusLine::is_due() const {
  if (quiet_) return false;
  return terminal_ || steady_clock::now() - last_line_ >= line_interval;
}

void StatusLine::show(double part, const std::string& count, const std::string& what,
                      const std::string& line) {
  if (!is_due()) return;
  if (!terminal_) {
    last_line_ = steady_clock::now();
    say("{}\n", line);
    return;
  }
  const auto filled = static_cast<std::size_t>(bar_cells * std::clamp(part, 0.0, 1.0));
  std::string bar = fmt::format("[{}{}] {}  {}", std::string(filled, '='),
                                std::string(bar_cells - filled, ' '), count, what);
  bar.resize(std::min(bar.size(), terminal_columns() - 1));  // a wrapped line cannot be erased
  say("\r\033[K{}", bar);
}

void StatusLine::erase() {
  if (terminal_ && !quiet_) say("\r\033[K");
}

}  // namespace assay
