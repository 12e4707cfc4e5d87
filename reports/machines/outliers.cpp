#include "reports/machines/outliers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "harness/statistics/holm.h"
#include "harness/statistics/order_statistics.h"
#include "harness/statistics/robust_z.h"
#include "reports/machines/speeds.h"

namespace assay {
namespace {

using statistics::min_for_outliers;

/// With fewer machines, lanes of several devices are pooled: each has too few of its own kind.
constexpr std::size_t min_machines_for_lanes = min_for_outliers;

/// A smaller spread of a case is that of a clock: no difference within it shows anything.
constexpr double min_spread = 1e-3;

struct Unit {
  std::uint32_t machine;
  const FleetUnit* unit;
};

/// Maps each case to the first that differs in its lane alone, if lanes are pooled.
std::vector<std::uint32_t> pooled_cases(const Fleet& fleet, bool pools_lanes) {
  std::vector<std::uint32_t> pooled(fleet.cases.size());
  for (std::uint32_t test = 0; test < pooled.size(); ++test) {
    pooled[test] = test;
    if (!pools_lanes || test == 0) continue;
    const FleetCase& own = fleet.cases[test];
    const FleetCase& last = fleet.cases[test - 1];  // lanes are last in their order
    const bool is_pooled = !own.lane.empty() && !last.lane.empty() && own.case_id == last.case_id &&
                           own.timing == last.timing;
    if (is_pooled) pooled[test] = pooled[test - 1];
  }
  return pooled;
}

/// The devices of one product.
class Population {
 public:
  Population(const Fleet& fleet, std::vector<Unit> units, bool pools_lanes)
      : fleet_(fleet), units_(std::move(units)), pooled_(pooled_cases(fleet, pools_lanes)) {
    std::vector<const FleetUnit*> all;
    for (const Unit& unit : units_) all.push_back(unit.unit);
    ByCase values(fleet, all, pooled_);
    medians_.assign(fleet.cases.size(), std::numeric_limits<float>::quiet_NaN());
    for (std::uint32_t test = 0; test < medians_.size(); ++test) {
      if (values.of(test).size() >= min_for_outliers)
        medians_[test] = median_in_place(values.of(test));
    }
  }

  std::vector<OutlierTest> tests(const OutlierRule& rule) {
    std::vector<OutlierTest> tests;
    for (auto& [group, of_group] : by_group()) {
      if (of_group.size() < min_for_outliers) continue;
      std::vector<double> logs;
      for (const OutlierTest& test : of_group) logs.push_back(test.time_ratio);
      const statistics::Centre centre = statistics::robust_centre(logs);
      const std::vector<double> z = statistics::robust_z(logs);
      for (std::size_t i = 0; i < of_group.size(); ++i) {
        OutlierTest& test = of_group[i];
        test.time_ratio = std::exp(logs[i] - centre.median);
        test.z = z[i];
        test.p = statistics::robust_z_p(z[i], of_group.size());
        tests.push_back(std::move(test));
      }
    }
    judge(tests, rule);
    return tests;
  }

 private:
  using Group = std::pair<std::string, std::string>;  // suite, dtype

  double deviation(const FleetTime& time) const {
    return static_cast<double>(time.log_s) - static_cast<double>(medians_[pooled_[time.test]]);
  }
  bool has_median(const FleetTime& time) const { return !std::isnan(medians_[pooled_[time.test]]); }

  /// Returns the tests with the logarithm of their ratios in place of these.
  std::map<Group, std::vector<OutlierTest>> by_group() const {
    std::map<Group, std::vector<OutlierTest>> groups;
    std::map<Group, std::vector<double>> deviations;
    for (const Unit& unit : units_) {
      for (auto& [group, values] : deviations) values.clear();
      // Cases of a group are neighbours.
      std::vector<double>* of_last = nullptr;
      const FleetCase* last = nullptr;
      for (const FleetTime& time : unit.unit->times) {
        if (!has_median(time)) continue;
        const FleetCase& test = fleet_.cases[time.test];
        if (last == nullptr || last->suite != test.suite || last->dtype != test.dtype) {
          of_last = &deviations[{test.suite, test.dtype}];
        }
        last = &test;
        of_last->push_back(deviation(time));
      }
      for (const auto& [group, values] : deviations) {
        if (values.empty()) continue;
        groups[group].push_back({.machine = unit.machine,
                                 .lane = unit.unit->lane,
                                 .suite = group.first,
                                 .dtype = group.second,
                                 .cases = values.size(),
                                 .time_ratio = statistics::median(values)});
      }
    }
    return groups;
  }

  void judge(std::vector<OutlierTest>& tests, const OutlierRule& rule) {
    std::vector<double> p;
    for (const OutlierTest& test : tests) p.push_back(test.p);
    const std::vector<double> adjusted = statistics::holm(p);
    for (std::size_t i = 0; i < tests.size(); ++i) {
      OutlierTest& test = tests[i];
      test.p_holm = adjusted[i];
      const bool is_large = std::abs(std::log(test.time_ratio)) > std::log1p(rule.margin);
      test.is_outlier = test.p_holm <= rule.level && is_large;
      if (test.is_outlier) show(test);
    }
    std::ranges::sort(tests, [](const OutlierTest& a, const OutlierTest& b) {
      const auto key = [](const OutlierTest& test) {
        return std::tuple(!test.is_outlier, test.p, -std::abs(test.z), test.machine,
                          std::tie(test.lane, test.suite, test.dtype));
      };
      return key(a) < key(b);
    });
  }

  /// Finds the case that shows an outlier best.
  void show(OutlierTest& test) {
    double most = -1;
    for (const FleetTime& time : unit_of(test).times) {
      const FleetCase& shown = fleet_.cases[time.test];
      if (shown.suite != test.suite || shown.dtype != test.dtype || !has_median(time)) continue;
      const double away = deviation(time);
      const double z = std::abs(away) / std::max(min_spread, spread(pooled_[time.test]));
      if (z <= most) continue;
      most = z;
      test.shown_by = time.test;
      test.shown_ratio = std::exp(away);
    }
  }

  const FleetUnit& unit_of(const OutlierTest& test) const {
    return *std::ranges::find_if(units_, [&](const Unit& unit) {
              return unit.machine == test.machine && unit.unit->lane == test.lane;
            })->unit;
  }

  double spread(std::uint32_t index) {
    const auto [known, is_new] = spreads_.try_emplace(index);
    if (!is_new) return known->second;
    std::vector<double> logs;
    for (const Unit& unit : units_) {
      const auto& times = unit.unit->times;
      for (auto time = std::ranges::lower_bound(times, index, {}, &FleetTime::test);
           time != times.end() && pooled_[time->test] == index; ++time) {
        logs.push_back(static_cast<double>(time->log_s));
      }
    }
    return known->second = statistics::robust_centre(logs).spread;
  }

  const Fleet& fleet_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> pooled_;
  std::vector<float> medians_;               // by index; NaN: too few have the case
  std::map<std::uint32_t, double> spreads_;  // by index, those that were needed
};

}  // namespace

std::size_t ProductOutliers::outliers() const {
  return static_cast<std::size_t>(std::ranges::count_if(tests, &OutlierTest::is_outlier));
}

std::vector<ProductOutliers> find_outliers(const Fleet& fleet, const OutlierRule& rule) {
  std::vector<ProductOutliers> products;
  std::map<std::string, std::size_t> indices;
  std::vector<std::vector<Unit>> units;
  for (std::uint32_t m = 0; m < fleet.machines.size(); ++m) {
    const FleetMachine& machine = fleet.machines[m];
    const auto [entry, is_new] = indices.emplace(machine.product, products.size());
    if (is_new) {
      products.push_back({.product = machine.product});
      units.emplace_back();
    }
    ++products[entry->second].machines;
    for (const FleetUnit& unit : machine.units) {
      if (!unit.times.empty()) units[entry->second].push_back({m, &unit});
    }
  }
  for (std::size_t i = 0; i < products.size(); ++i) {
    products[i].units = units[i].size();
    if (units[i].size() < min_for_outliers) continue;
    const bool pools_lanes = products[i].machines < min_machines_for_lanes;
    products[i].tests = Population(fleet, std::move(units[i]), pools_lanes).tests(rule);
  }
  return products;
}

}  // namespace assay
