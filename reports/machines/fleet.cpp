#include "reports/machines/fleet.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <tuple>

#include "kernels/device/device_id.h"

namespace assay {
namespace {

constexpr std::size_t max_examples = 3;
/// Most different bits of a case that are told apart: an output that is new at each launch must not
/// fill the memory.
constexpr std::size_t max_bits = 64;

bool by_test(const FleetTime& a, const FleetTime& b) { return a.test < b.test; }

/// Takes the median of the runs of each case. Empties `runs`.
std::vector<FleetTime> median_of_runs(std::map<std::size_t, std::vector<FleetTime>>& runs) {
  if (runs.size() == 1) return std::move(runs.begin()->second);
  std::vector<FleetTime> all;
  for (auto& [run, times] : runs) {
    all.insert(all.end(), times.begin(), times.end());
    std::vector<FleetTime>().swap(times);
  }
  std::ranges::sort(all, {},
                    [](const FleetTime& time) { return std::pair(time.test, time.log_s); });
  std::vector<FleetTime> medians;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].test == all[begin].test) ++end;
    const std::size_t count = end - begin;
    medians.push_back({all[begin].test, std::midpoint(all[begin + (count - 1) / 2].log_s,
                                                      all[begin + count / 2].log_s)});
    begin = end;
  }
  return medians;
}

}  // namespace

std::int64_t Fleet::failed_trials() const {
  std::int64_t failed = 0;
  for (const FleetMachine& machine : machines) failed += machine.wrong + machine.broken;
  return failed;
}

/// A device of the run that is being added, or several together.
struct FleetBuilder::Lane {
  std::string name;
  bool is_wanted = false;
  std::uint32_t machine = 0;
  std::vector<FleetTime>* times = nullptr;
};

FleetBuilder::Lane FleetBuilder::lane_of(std::size_t run, std::size_t index, const RunInfo& info,
                                         const StoredTrials& trials, const StoredTrial& trial) {
  Lane lane{.name = trial.group->device};
  lane.is_wanted = selection_.lane(lane.name);
  if (!lane.is_wanted) return lane;
  std::string product = trials.product(lane.name);
  if (product.empty()) product = lane.name;
  if (trial.is_stand_in) product += " (stand-in)";
  const auto next_product = static_cast<std::uint32_t>(products_.size());
  const std::uint32_t product_index = products_.emplace(product, next_product).first->second;
  const auto next = static_cast<std::uint32_t>(machines_.size());
  const auto [found, is_new] = machine_indices_.emplace(std::pair(info.host, product), next);
  lane.machine = found->second;
  if (is_new) {
    Machine& added = machines_.emplace_back();
    added.machine.host = info.host;
    added.machine.product = product;
    added.product = product_index;
    added.first = {run, index};
  }
  Machine& machine = machines_[lane.machine];
  machine.first = std::min(machine.first, std::pair(run, index));
  if (machine.last_run != run) ++machine.machine.runs;
  machine.last_run = run;
  lane.times = &machine.units[lane.name][run];
  return lane;
}

FleetBuilder::Known FleetBuilder::known(const StoredTrial& trial) {
  const TrialGroup& group = *trial.group;
  const bool is_alone = split_lane(group.device).size() == 1;
  key_.assign(trial.case_id).append(1, '\0').append(group.timing);
  if (!is_alone) key_.append(1, '\0').append(group.device);
  const auto found = known_.find(key_);
  if (found != known_.end()) return found->second;
  FleetCase test{.case_id = trial.case_id,
                 .timing = group.timing,
                 .lane = is_alone ? std::string() : group.device,
                 .suite = group.suite,
                 .op = group.op,
                 .dtype = group.dtype};
  suites_.insert(group.suite);
  Known added;
  const bool is_wanted = selection_.test(test);
  if (is_wanted) {
    added.test = static_cast<std::uint32_t>(cases_.size());
    cases_.push_back(std::move(test));
  }
  const auto next = static_cast<std::uint32_t>(outputs_.size());
  const auto [judged, is_new] = judged_.emplace(trial.case_id, next);
  if (is_new) outputs_.push_back({.case_id = trial.case_id, .test = added.test});
  added.judged = judged->second;
  known_.emplace(key_, added);
  return added;
}

void FleetBuilder::add_bits(Judged& judged, const Lane& lane, std::size_t run, const RunInfo& info,
                            const StoredTrial& trial) {
  const Machine& machine = machines_[lane.machine];
  const std::uint64_t hash = trial.output_hash;
  auto found = std::ranges::find_if(judged.bits, [&](const Bits& bits) {
    return bits.hash == hash && bits.product == machine.product && bits.seed == info.seed &&
           bits.implementation == *trial.implementation;
  });
  if (found == judged.bits.end()) {
    if (judged.bits.size() == max_bits) {
      judged.many = true;
      return;
    }
    judged.bits.push_back({.seed = info.seed,
                           .product = machine.product,
                           .implementation = *trial.implementation,
                           .hash = hash});
    found = std::prev(judged.bits.end());
  }
  ++found->trials;
  auto& examples = found->examples;
  if (examples.size() == max_examples && examples.back().first < run) return;
  std::pair example(run, info.host + " " + lane.name);
  const auto at = std::ranges::lower_bound(examples, example);
  if (at != examples.end() && *at == example) return;
  examples.insert(at, std::move(example));
  if (examples.size() > max_examples) examples.pop_back();
}

void FleetBuilder::add_measure(const Lane& lane, std::size_t run, std::uint32_t figure,
                               KeyMeasure measure) {
  const std::tuple key(figure, run, lane.name);
  const auto [held, is_new] = machines_[lane.machine].measures.try_emplace(key, measure);
  if (!is_new && stands_before(key_figures()[figure], measure, held->second)) {
    held->second = std::move(measure);
  }
}

/// Adds measures of devices, not of what stood for one: their limits do not say so.
void FleetBuilder::add_measures(std::size_t run, const StoredTrials& trials,
                                std::span<const Limit> limits, const Lanes& lanes) {
  const auto wanted_lane = [&](const std::string& device) -> const Lane* {
    const auto found = lanes.find({device, false});
    return found != lanes.end() && found->second.is_wanted ? &found->second : nullptr;
  };
  for (const TrialMeasure& one : trials.measures()) {
    const StoredTrial& trial = trials.trials()[one.trial];
    const Lane* const lane = wanted_lane(trial.group->device);
    if (lane == nullptr || known(trial).test == unwanted) continue;
    add_measure(*lane, run, one.figure, one.measure);
  }
  for (const Limit& limit : limits) {
    const Lane* const lane = wanted_lane(limit.device);
    const FleetCase test{.case_id = limit.case_id, .suite = "limits"};
    if (lane == nullptr || !selection_.test(test)) continue;
    for (std::uint32_t figure = 0; figure < key_figures().size(); ++figure) {
      if (auto measure = measure_of(key_figures()[figure], limit)) {
        add_measure(*lane, run, figure, *std::move(measure));
      }
    }
  }
}

std::vector<std::string> FleetBuilder::case_ids() const {
  std::vector<std::string> ids;
  for (const Judged& judged : outputs_) ids.push_back(judged.case_id);
  std::ranges::sort(ids);
  return ids;
}

void FleetBuilder::add(std::size_t run, const RunInfo& info, const StoredTrials& trials,
                       std::span<const Limit> limits) {
  const std::lock_guard lock(mutex_);
  ++runs_;
  builds_.insert(info.build_id);
  Lanes lanes;
  const TrialGroup* last_group = nullptr;
  std::size_t index = 0;
  for (const StoredTrial& trial : trials.trials()) {
    ++index;
    if (trial.group != last_group) lanes_.insert(trial.group->device);
    last_group = trial.group;
    const Known test = known(trial);
    if (test.test == unwanted) continue;
    if (trial.is_stand_in && !selection_.stand_ins) {
      ++left_out_stand_ins_;
      continue;
    }
    const std::pair<std::string_view, bool> key(trial.group->device, trial.is_stand_in);
    auto found = lanes.find(key);
    if (found == lanes.end()) {
      found = lanes.emplace(key, lane_of(run, index, info, trials, trial)).first;
    }
    const Lane& lane = found->second;
    if (!lane.is_wanted) continue;
    FleetMachine& machine = machines_[lane.machine].machine;
    if (trial.is_bad()) {
      ++(class_of(trial.status) == StatusClass::broken ? machine.broken : machine.wrong);
      failures_.emplace(std::pair(run, index), FailedTrial{.machine = lane.machine,
                                                           .case_id = trial.case_id,
                                                           .lane = lane.name,
                                                           .status = trial.status,
                                                           .reason = trial.reason,
                                                           .run = run});
      if (failures_.size() > Fleet::max_failures) failures_.erase(std::prev(failures_.end()));
      continue;
    }
    if (!trial.passed()) {
      ++machine.skipped;
      continue;
    }
    ++machine.passed;
    if (trial.time) {
      lane.times->push_back({test.test, static_cast<float>(std::log(trial.time->median_s))});
    }
    if (trial.output_hash != 0) {
      add_bits(outputs_[test.judged], lane, run, info, trial);
    }
  }
  add_measures(run, trials, limits, lanes);
  for (auto& [key, lane] : lanes) {
    if (lane.is_wanted) lane.times->shrink_to_fit();  // they stay, one list a run
  }
}

/// Returns the new index of each case.
std::vector<std::uint32_t> FleetBuilder::sort_cases(Fleet& fleet) {
  std::vector<std::uint32_t> order(cases_.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [](const FleetCase& test) {
      return std::tie(test.suite, test.dtype, test.case_id, test.timing, test.lane);
    };
    return key(cases_[a]) < key(cases_[b]);
  });
  std::vector<std::uint32_t> indices(cases_.size());
  for (std::uint32_t index = 0; index < order.size(); ++index) {
    indices[order[index]] = index;
    fleet.cases.push_back(cases_[order[index]]);
  }
  return indices;
}

void FleetBuilder::finish_machines(Fleet& fleet, const std::vector<std::uint32_t>& indices) {
  std::vector<std::uint32_t> order(machines_.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return machines_[i].first; });
  std::vector<std::uint32_t> machine_indices(machines_.size());
  for (const std::uint32_t from : order) {
    Machine& machine = machines_[from];
    machine_indices[from] = static_cast<std::uint32_t>(fleet.machines.size());
    machine.machine.first_run = machine.first.first;
    for (auto& [lane, runs] : machine.units) {
      for (auto& [run, times] : runs) {
        for (FleetTime& time : times) time.test = indices[time.test];
        std::ranges::sort(times, by_test);
      }
      machine.machine.units.push_back({.lane = lane, .times = median_of_runs(runs)});
    }
    machine.units.clear();
    for (auto& [key, measure] : machine.measures) {
      machine.machine.measures.push_back({std::get<0>(key), std::get<1>(key), std::move(measure)});
    }
    machine.measures.clear();
    fleet.machines.push_back(std::move(machine.machine));
  }
  for (auto& [index, failure] : failures_) {
    failure.machine = machine_indices[failure.machine];
    fleet.failures.push_back(std::move(failure));
  }
}

void FleetBuilder::finish_bits(Fleet& fleet) {
  std::vector<std::string> products(products_.size());
  for (const auto& [product, index] : products_) products[index] = product;
  for (Judged& judged : outputs_) {
    std::ranges::sort(judged.bits, [&](const Bits& a, const Bits& b) {
      return std::tie(a.seed, products[a.product], a.implementation, b.trials, a.hash) <
             std::tie(b.seed, products[b.product], b.implementation, a.trials, b.hash);
    });
    bool differs = judged.many;
    std::int64_t most = 0;
    for (auto begin = judged.bits.begin(); begin != judged.bits.end();) {
      const std::uint64_t seed = begin->seed;
      const auto end =
          std::find_if(begin, judged.bits.end(), [&](const Bits& b) { return b.seed != seed; });
      const bool is_same =
          std::all_of(begin, end, [&](const Bits& bits) { return bits.hash == begin->hash; });
      std::int64_t trials = 0;
      for (auto at = begin; at != end; ++at) trials += at->trials;
      most = std::max(most, trials);
      if (is_same && !judged.many) {
        begin = end;
        continue;
      }
      differs = true;
      const FleetCase& test = cases_[judged.test];
      BitDifference difference{.case_id = judged.case_id,
                               .suite = test.suite,
                               .op = test.op,
                               .dtype = test.dtype,
                               .seed = seed,
                               .many = judged.many};
      for (auto at = begin; at != end; ++at) {
        difference.within_product |= at != begin && std::prev(at)->product == at->product &&
                                     std::prev(at)->implementation == at->implementation;
        OutputBits& bits = difference.outputs.emplace_back();
        bits.product = products[at->product];
        bits.implementation = at->implementation;
        bits.hash = at->hash;
        bits.trials = at->trials;
        for (auto& [run, device] : at->examples) bits.examples.push_back(std::move(device));
      }
      fleet.differences.push_back(std::move(difference));
      begin = end;
    }
    if (!differs && most > 1) ++fleet.cases_with_same_bits;
  }
  std::ranges::sort(fleet.differences, [](const BitDifference& a, const BitDifference& b) {
    return std::tie(b.within_product, a.case_id, a.seed) <
           std::tie(a.within_product, b.case_id, b.seed);
  });
}

Fleet FleetBuilder::finish() {
  Fleet fleet;
  fleet.runs = runs_;
  fleet.builds = builds_;
  fleet.left_out_stand_ins = left_out_stand_ins_;
  finish_bits(fleet);
  const std::vector<std::uint32_t> indices = sort_cases(fleet);
  finish_machines(fleet, indices);
  return fleet;
}

}  // namespace assay
