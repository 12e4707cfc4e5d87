#include "reports/machines/speeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "harness/statistics/mean_interval.h"

namespace assay {
namespace {

constexpr float absent = std::numeric_limits<float>::quiet_NaN();

/// Returns the time of each case, `absent` where the column has none.
std::vector<float> times_of(const Fleet& fleet, const FleetColumn& column) {
  std::vector<const FleetUnit*> units;
  for (const std::uint32_t machine : column.machines) {
    for (const FleetUnit& unit : fleet.machines[machine].units) units.push_back(&unit);
  }
  std::vector<float> times(fleet.cases.size(), absent);
  if (units.size() == 1) {
    for (const FleetTime& time : units.front()->times) times[time.test] = time.log_s;
    return times;
  }
  ByCase values(fleet, units);
  for (std::uint32_t test = 0; test < times.size(); ++test) {
    if (!values.of(test).empty()) times[test] = median_in_place(values.of(test));
  }
  return times;
}

/// Compares the times of a column with those of the baseline over some cases.
FleetSpeed speed_of(std::size_t column, std::span<const float> times, std::span<const float> base,
                    std::span<const std::uint32_t> cases) {
  FleetSpeed speed{.column = column, .cases = cases.size()};
  std::vector<double> logs;
  logs.reserve(cases.size());
  for (const std::uint32_t test : cases) {
    logs.push_back(static_cast<double>(base[test]) - static_cast<double>(times[test]));
    if (logs.back() < 0) ++speed.slower;
    if (logs.back() > 0) ++speed.faster;
  }
  const statistics::Mean mean = statistics::mean_with_interval(logs);
  speed.speed = std::exp(mean.value);
  if (mean.interval) speed.interval = {std::exp(mean.interval->low), std::exp(mean.interval->high)};
  const auto [least, most] = std::ranges::minmax_element(logs);
  speed.slowest_case = cases[static_cast<std::size_t>(least - logs.begin())];
  speed.least = std::exp(*least);
  speed.fastest_case = cases[static_cast<std::size_t>(most - logs.begin())];
  speed.most = std::exp(*most);
  return speed;
}

void keep_slowest(FleetSpeed& speed, std::span<const float> times, std::span<const float> base,
                  std::span<const std::uint32_t> cases) {
  std::vector<std::pair<double, std::uint32_t>> slower;
  for (const std::uint32_t test : cases) {
    const double log = static_cast<double>(base[test]) - static_cast<double>(times[test]);
    if (log < 0) slower.emplace_back(log, test);
  }
  const auto kept = static_cast<std::ptrdiff_t>(std::min(slower.size(), FleetSpeed::max_slowest));
  std::ranges::partial_sort(slower, slower.begin() + kept);
  for (auto at = slower.begin(); at != slower.begin() + kept; ++at) {
    speed.slowest.emplace_back(at->second, std::exp(at->first));
  }
}

using Group = std::pair<std::string, std::string>;  // suite, dtype

/// Gives ranks to the speeds of one group, and sorts them by it.
void rank(std::span<FleetSpeed> speeds) {
  std::ranges::stable_sort(speeds, [](const auto& a, const auto& b) { return a.speed > b.speed; });
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const bool is_tie = i > 0 && speeds[i].speed == speeds[i - 1].speed;
    speeds[i].rank = is_tie ? speeds[i - 1].rank : i + 1;
  }
}

}  // namespace

std::vector<FleetColumn> fleet_columns(const Fleet& fleet) {
  std::vector<FleetColumn> products;
  std::map<std::string, std::size_t> indices;
  for (std::uint32_t m = 0; m < fleet.machines.size(); ++m) {
    const std::string& product = fleet.machines[m].product;
    const auto [entry, is_new] = indices.emplace(product, products.size());
    if (is_new) products.push_back({.name = product, .machines = {}});
    products[entry->second].machines.push_back(m);
  }
  if (products.size() != 1) return products;
  std::vector<FleetColumn> machines;
  for (std::uint32_t m = 0; m < fleet.machines.size(); ++m) {
    const FleetMachine& machine = fleet.machines[m];
    machines.push_back({.name = machine.product + " in " + machine.host, .machines = {m}});
  }
  return machines;
}

ByCase::ByCase(const Fleet& fleet, std::span<const FleetUnit* const> units,
               std::span<const std::uint32_t> pools)
    : begins_(fleet.cases.size() + 1) {
  const auto pooled = [&](std::uint32_t test) { return pools.empty() ? test : pools[test]; };
  for (const FleetUnit* unit : units) {
    for (const FleetTime& time : unit->times) ++begins_[pooled(time.test) + 1];
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  values_.resize(begins_.back());
  std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
  for (const FleetUnit* unit : units) {
    for (const FleetTime& time : unit->times) values_[next[pooled(time.test)]++] = time.log_s;
  }
}

float median_in_place(std::span<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

FleetSpeeds fleet_speeds(const Fleet& fleet, std::span<const FleetColumn> columns,
                         std::size_t baseline) {
  FleetSpeeds speeds{.baseline = baseline};
  std::vector<std::uint32_t> having(fleet.cases.size());  // columns
  std::vector<std::size_t> timed;
  speeds.min_cases = std::numeric_limits<std::size_t>::max();
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const std::vector<float> times = times_of(fleet, columns[column]);
    std::size_t count = 0;
    for (std::size_t test = 0; test < times.size(); ++test) {
      if (std::isnan(times[test])) continue;
      ++count;
      ++having[test];
    }
    if (count == 0) {
      speeds.untimed.push_back(column);
      continue;
    }
    timed.push_back(column);
    if (count < speeds.min_cases) {
      speeds.min_cases = count;
      speeds.min_cases_column = column;
    }
  }
  std::map<Group, std::vector<std::uint32_t>> groups;
  for (std::uint32_t test = 0; test < having.size(); ++test) {
    if (having[test] > 0) ++speeds.timed_cases;
    if (timed.empty() || having[test] != timed.size()) continue;
    speeds.common.push_back(test);
    groups[{fleet.cases[test].suite, fleet.cases[test].dtype}].push_back(test);
  }
  if (timed.size() < 2 || speeds.common.empty() || std::ranges::count(timed, baseline) == 0) {
    return speeds;
  }
  const std::vector<float> base = times_of(fleet, columns[baseline]);
  std::vector<std::vector<FleetSpeed>> by_group(groups.size());
  for (const std::size_t column : timed) {
    const std::vector<float> times = times_of(fleet, columns[column]);
    FleetSpeed& all = speeds.all.emplace_back(speed_of(column, times, base, speeds.common));
    keep_slowest(all, times, base, speeds.common);
    std::size_t index = 0;
    for (const auto& [group, cases] : groups) {
      FleetSpeed& speed = by_group[index++].emplace_back(speed_of(column, times, base, cases));
      speed.suite = group.first;
      speed.dtype = group.second;
    }
  }
  rank(speeds.all);
  for (std::vector<FleetSpeed>& group : by_group) {
    rank(group);
    speeds.of_each_group.insert(speeds.of_each_group.end(), group.begin(), group.end());
  }
  return speeds;
}

}  // namespace assay
