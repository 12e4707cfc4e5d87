#include "reports/time_spent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

std::string seconds_text(double seconds) {
  return seconds < 9.95 ? fmt::format("{:.2g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

}  // namespace

std::string time_spent(const RunInfo& run) {
  const double total_s = run.phases.total();
  if (run.wall_s <= 0 || total_s <= 0) return {};
  std::string text = seconds_text(run.wall_s);
  if (run.taken > 0) {
    text += fmt::format(" for {} trial{}, {} each", run.taken, run.taken == 1 ? "" : "s",
                        seconds_text(run.wall_s / static_cast<double>(run.taken)));
  }
  if (total_s > 1.01 * run.wall_s) {
    text += fmt::format(", in which workers side by side spent {}", seconds_text(total_s));
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
