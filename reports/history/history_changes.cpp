#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include "harness/statistics/order_statistics.h"
#include "reports/history/history.h"

namespace assay {
namespace {

/// Returns the median of the points [begin, end).
double level(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  return statistics::median({values.begin() + static_cast<std::ptrdiff_t>(begin),
                             values.begin() + static_cast<std::ptrdiff_t>(end)});
}

void find_changes(HistorySeries& series, const statistics::EDivisiveOptions& options) {
  const std::vector<double> values = series.values();
  series.too_short = values.size() < 2 * options.smallest_segment;
  const std::vector<statistics::ChangePoint> found = statistics::e_divisive(values, options);
  std::vector<std::size_t> bounds{0};
  for (const statistics::ChangePoint& change : found) bounds.push_back(change.index);
  bounds.push_back(values.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    series.changes.push_back({.at = found[i],
                              .before = level(values, bounds[i], bounds[i + 1]),
                              .after = level(values, bounds[i + 1], bounds[i + 2])});
  }
  std::size_t segment = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    while (i >= bounds[segment]) ++segment;
    series.entries[series.points[i]].segment = segment;
  }
}

}  // namespace

std::vector<FoundChange> newest_changes(const History& history) {
  std::vector<FoundChange> all;
  for (const HistorySeries& series : history.series) {
    for (const HistoryChange& change : series.changes) all.push_back({&series, &change});
  }
  std::ranges::stable_sort(all, {}, [](const FoundChange& found) {
    const auto newest = static_cast<double>(found.series->point(found.change->at.index).run);
    return std::pair(-newest, -std::abs(std::log(found.change->ratio())));
  });
  return all;
}

void find_changes(History& history, const statistics::EDivisiveOptions& options) {
  if (history.series.empty()) return;
  find_changes(history.series.front(), options);  // bad options throw here, in no thread
  std::atomic<std::size_t> next = 1;
  const auto work = [&] {
    for (std::size_t i = next++; i < history.series.size(); i = next++) {
      find_changes(history.series[i], options);
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < std::min(cores, history.series.size()); ++i) {
    threads.emplace_back(work);
  }
  work();
}

}  // namespace assay
