#include "harness/supervise/leak_monitor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace assay {
namespace {

constexpr std::size_t kept_points = 512;
constexpr std::int64_t telling_trials = 100;
constexpr std::size_t kept_workers = 64;

std::filesystem::path proc(pid_t pid) { return "/proc/" + std::to_string(pid); }

/// The process and those that it has started, such as one that runs kernels of others: what they
/// leak is the worker's. Theirs in turn do not count. Only the first thread's children are listed.
std::vector<pid_t> with_children(pid_t pid) {
  std::vector<pid_t> all{pid};
  std::ifstream file(proc(pid) / "task" / std::to_string(pid) / "children");
  for (pid_t child = 0; file >> child;) all.push_back(child);
  return all;
}

double resident_bytes(pid_t pid) {
  std::ifstream file(proc(pid) / "statm");
  double total_pages = 0;
  double resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double open_files(pid_t pid) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(proc(pid) / "fd", error);
  return error ? 0 : static_cast<double>(std::distance(begin(entries), end(entries)));
}

std::string text_of(const LeakMonitor::Slope& slope) {
  return fmt::format("{:+.1f} KiB and {:+.2f} file handles", slope.bytes_per_1000_trials / 1024,
                     slope.files_per_1000_trials);
}

}  // namespace

void LeakMonitor::sample(std::span<const pid_t> workers) {
  ++trials_;
  const pid_t own = getpid();
  const auto is_due = [&](const Series& series) { return trials_ % series.stride == 0; };
  if (is_due(parent_)) add({&own, 1}, parent_);
  for (const pid_t pid : workers) {
    if (Series& series = workers_[pid]; is_due(series)) add(with_children(pid), series);
  }
  // Keeps the workers that served longest: short-lived ones tell nothing.
  while (workers_.size() > kept_workers) {
    workers_.erase(std::ranges::min_element(workers_, {}, [](const auto& entry) {
      const auto& points = entry.second.points;
      return points.empty() ? 0 : points.back().trial - points.front().trial;
    }));
  }
}

void LeakMonitor::add(std::span<const pid_t> processes, Series& series) {
  Point point{.trial = trials_, .bytes = 0, .files = 0};
  for (const pid_t pid : processes) {
    const double bytes = resident_bytes(pid);
    if (bytes == 0) return;  // it has just ended
    point.bytes += bytes;
    point.files += open_files(pid);
  }
  series.points.push_back(point);
  if (series.points.size() < kept_points) return;
  std::vector<Point> thinned;
  for (std::size_t i = 1; i < series.points.size(); i += 2) thinned.push_back(series.points[i]);
  series.points = std::move(thinned);
  series.stride *= 2;
}

LeakMonitor::Slope LeakMonitor::slope(std::span<const Point> points) {
  points = points.subspan(points.size() / 2);
  Slope slope;
  if (points.size() < 2) return slope;
  const auto n = static_cast<double>(points.size());
  Point mean{0, 0, 0};
  double mean_trial = 0;
  for (const Point& point : points) {
    mean_trial += static_cast<double>(point.trial) / n;
    mean.bytes += point.bytes / n;
    mean.files += point.files / n;
  }
  double squares = 0;
  for (const Point& point : points) {
    const double x = static_cast<double>(point.trial) - mean_trial;
    squares += x * x;
    slope.bytes_per_1000_trials += x * (point.bytes - mean.bytes);
    slope.files_per_1000_trials += x * (point.files - mean.files);
  }
  slope.bytes_per_1000_trials *= 1000 / squares;
  slope.files_per_1000_trials *= 1000 / squares;
  slope.trials = points.back().trial - points.front().trial;
  return slope;
}

LeakMonitor::Slope LeakMonitor::parent() const { return slope(parent_.points); }

LeakMonitor::Slope LeakMonitor::steepest_worker() const {
  Slope steepest;
  for (const auto& [pid, series] : workers_) {
    const Slope own = slope(series.points);
    if (own.trials < telling_trials) continue;
    if (steepest.trials == 0 || own.bytes_per_1000_trials > steepest.bytes_per_1000_trials) {
      steepest = own;
    }
  }
  return steepest;
}

std::string LeakMonitor::text() const {
  const Slope own = parent();
  const Slope worker = steepest_worker();
  if (own.trials < telling_trials) return {};
  std::string text =
      fmt::format("growth per 1,000 trials, over the last {}: parent {}", own.trials, text_of(own));
  if (worker.trials > 0) text += fmt::format("; worker {}", text_of(worker));
  return text;
}

}  // namespace assay
