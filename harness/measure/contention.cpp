#include "harness/measure/contention.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

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

/// Threads come and go while they are listed: what is gone counts for nothing.
std::optional<double> waited_by_all_threads_s() {
  std::optional<double> total;
  std::error_code error;
  for (const fs::directory_entry& thread : fs::directory_iterator("/proc/self/task", error)) {
    if (const auto waited = waited_s(text_of(thread.path() / "schedstat"))) {
      total = total.value_or(0) + *waited;
    }
  }
  return total;
}

}  // namespace

std::optional<double> waited_s(const std::string& schedstat) {
  std::istringstream text(schedstat);
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
  if (!(text >> ran_ns >> waited_ns)) return std::nullopt;
  return static_cast<double>(waited_ns) * 1e-9;
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
  return {.waited_s = waited_by_all_threads_s(),
          .stolen_s = stolen_s(text_of("/proc/stat"), static_cast<double>(sysconf(_SC_CLK_TCK)))};
}

std::optional<bool> is_contended(const LostTime& before, const LostTime& after, double wall_s) {
  double lost_s = 0;
  bool told = false;
  const auto add = [&](const std::optional<double>& was, const std::optional<double>& is) {
    if (!was || !is) return;
    told = true;
    lost_s += std::max(0.0, *is - *was);  // threads that ended take theirs with them
  };
  add(before.waited_s, after.waited_s);
  add(before.stolen_s, after.stolen_s);
  if (!told) return std::nullopt;
  return lost_s > lost_share * wall_s;
}

}  // namespace assay::measure
