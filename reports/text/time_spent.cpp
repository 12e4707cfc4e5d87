#include "reports/text/time_spent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "reports/text/si.h"

namespace assay {
namespace {

std::string session_text(const Session& session) {
  if (!session.ended()) return session.started_at + ": has no times";
  return fmt::format("{} to {}: {} for {}, exit code {}{}", session.started_at, session.ended_at,
                     duration_text(session.wall_s), counted(session.taken, "trial"),
                     session.exit_code, session.interrupted ? ", interrupted" : "");
}

}  // namespace

std::string took(const RunInfo& run) {
  if (run.wall_s <= 0) return {};
  std::string text = duration_text(run.wall_s);
  const auto all = std::ssize(run.sessions);
  if (all < 2) return text;
  const auto timed = std::ranges::count_if(run.sessions, &Session::ended);
  if (timed == all) return fmt::format("{} in {} sessions", text, all);
  return fmt::format("{} in {} of {} sessions", text, timed, all);
}

std::vector<std::string> sessions(const RunInfo& run) {
  std::vector<std::string> lines;
  if (run.sessions.size() < 2) return lines;
  std::ranges::transform(run.sessions, std::back_inserter(lines), session_text);
  return lines;
}

std::string time_spent(const RunInfo& run) {
  const double total_s = run.phases.total();
  if (run.wall_s <= 0 || total_s <= 0) return {};
  std::string text = took(run);
  if (run.taken > 0) {
    text += fmt::format(" for {}, {} each", counted(run.taken, "trial"),
                        duration_text(run.wall_s / static_cast<double>(run.taken)));
  }
  if (total_s > 1.01 * run.wall_s) {
    text += fmt::format(", in which workers side by side spent {}", duration_text(total_s));
  }
  auto phases = all_phases;
  std::ranges::stable_sort(phases, [&](const Phase& a, const Phase& b) {
    return run.phases.*a.seconds > run.phases.*b.seconds;
  });
  const char* separator = " = ";
  for (const Phase& phase : phases) {
    const double percent = 100 * (run.phases.*phase.seconds) / total_s;
    if (percent < 0.5) continue;
    text += fmt::format("{}{} {:.0f}%", separator, phase.name, percent);
    separator = ", ";
  }
  return text;
}

}  // namespace assay
