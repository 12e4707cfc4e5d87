#include "harness/measure/contention.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "kernels/core/child_processes.h"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

constexpr double lost_share = 0.01;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<double> ran_s(const std::string& schedstat) {
  std::istringstream text(schedstat);
  std::uint64_t ran_ns = 0;
  if (!(text >> ran_ns)) return std::nullopt;
  return static_cast<double>(ran_ns) * 1e-9;
}

/// Reads the schedstat of each thread with `parse`. Leaves out threads that end while they are
/// listed.
std::map<std::string, double> by_thread_s(
    const std::vector<pid_t>& processes,
    std::optional<double> (*parse)(const std::string& schedstat)) {
  std::map<std::string, double> all;
  for (const pid_t process : processes) {
    std::error_code error;
    const fs::path threads = fs::path("/proc") / std::to_string(process) / "task";
    for (const fs::directory_entry& thread : fs::directory_iterator(threads, error)) {
      const auto time_s = parse(text_of(thread.path() / "schedstat"));
      if (time_s) all.emplace(thread.path(), *time_s);
    }
  }
  return all;
}

}  // namespace

std::optional<double> waited_s(const std::string& schedstat) {
  std::istringstream text(schedstat);
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
  if (!(text >> ran_ns >> waited_ns)) return std::nullopt;
  return static_cast<double>(waited_ns) * 1e-9;
}

std::map<std::string, double> worked_s(const std::vector<pid_t>& processes) {
  return by_thread_s(with_descendants(processes), ran_s);
}

std::map<std::string, double> waited_s(const std::vector<pid_t>& processes) {
  return by_thread_s(with_descendants(processes), waited_s);
}

double least_time_s(const std::map<std::string, double>& before,
                    const std::map<std::string, double>& after, int cores) {
  double busiest_s = 0;
  double all_s = 0;
  for (const auto& [thread, worked] : after) {
    const auto was = before.find(thread);
    const double between_s = worked - (was == before.end() ? 0 : was->second);
    busiest_s = std::max(busiest_s, between_s);
    all_s += between_s;
  }
  return std::max(busiest_s, all_s / cores);
}

double longest_between_s(const std::map<std::string, double>& before,
                         const std::map<std::string, double>& after) {
  double longest_s = 0;
  for (const auto& [thread, time_s] : after) {
    const auto was = before.find(thread);
    if (was != before.end()) longest_s = std::max(longest_s, time_s - was->second);
  }
  return longest_s;
}

std::optional<double> stolen_s(const std::string& stat, double ticks_per_s) {
  constexpr int before_steal = 7;  // user nice system idle iowait irq softirq
  std::istringstream text(stat);
  std::string name;
  std::uint64_t ticks = 0;
  if (!(text >> name) || name != "cpu") return std::nullopt;
  for (int i = 0; i <= before_steal; ++i) {
    if (!(text >> ticks)) return std::nullopt;
  }
  return static_cast<double>(ticks) / ticks_per_s;
}

LostTime lost_time() {
  return {.waited_s = by_thread_s({getpid()}, waited_s),
          .stolen_s = stolen_s(text_of("/proc/stat"), static_cast<double>(sysconf(_SC_CLK_TCK)))};
}

double waited_between_s(const LostTime& before, const LostTime& after) {
  double sum_s = 0;
  // Compares thread by thread: a thread that ends takes its whole waiting time out of the sum.
  for (const auto& [thread, waited] : after.waited_s) {
    const auto was = before.waited_s.find(thread);
    sum_s += std::max(0.0, waited - (was == before.waited_s.end() ? 0 : was->second));
  }
  return sum_s;
}

std::optional<bool> is_contended(const LostTime& before, const LostTime& after, double wall_s) {
  const bool tells_stolen = before.stolen_s && after.stolen_s;
  const bool tells_waited = !before.waited_s.empty() && !after.waited_s.empty();
  if (!tells_stolen && !tells_waited) return std::nullopt;
  const double stolen_s = tells_stolen ? std::max(0.0, *after.stolen_s - *before.stolen_s) : 0;
  const double lost_s = stolen_s + (tells_waited ? waited_between_s(before, after) : 0);
  return lost_s > lost_share * wall_s;
}

}  // namespace assay::measure
