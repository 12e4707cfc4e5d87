#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/records/limit.h"
#include "harness/records/record.h"
#include "reports/files/stored_run.h"
#include "reports/files/stored_trials.h"
#include "reports/text/key_figures.h"

namespace assay {

/// A case that is timed in one way, on devices together in one lane. Devices that work alone share
/// the case, whichever of the host's they are.
struct FleetCase {
  std::string case_id;
  std::string timing;
  std::string lane;  // "cuda:0>cuda:1"; empty for one device
  std::string suite;
  std::string op;
  std::string dtype;
};

struct FleetTime {
  std::uint32_t test = 0;  // index into Fleet::cases
  float log_s = 0;         // natural logarithm of the seconds of one launch
};

/// A key figure as one device of a machine, or several together, had it in one run.
struct FleetMeasure {
  std::uint32_t figure = 0;  // index into key_figures()
  std::size_t run = 0;       // of the reader's
  KeyMeasure measure;
};

/// One device of a machine, or several together.
struct FleetUnit {
  std::string lane;              // "cuda:3"
  std::vector<FleetTime> times;  // in the order of the cases, each the median of the runs
};

/// Devices of one product in one host.
struct FleetMachine {
  std::string host;
  std::string product;
  std::vector<FleetUnit> units;        // in the order of their lanes
  std::vector<FleetMeasure> measures;  // by figure, run and device
  std::int64_t runs = 0;
  std::int64_t passed = 0;  // trials
  std::int64_t skipped = 0;
  std::int64_t wrong = 0;
  std::int64_t broken = 0;
  std::size_t first_run = 0;  // of the reader's
};

/// A trial that was neither right nor skipped, and not accepted as a known failure.
struct FailedTrial {
  std::uint32_t machine = 0;  // index into Fleet::machines
  std::string case_id;
  std::string lane;
  Status status = Status::error;
  std::string reason;
  std::size_t run = 0;
};

/// The bits that one implementation of a case left on devices of one product, where it passed.
struct OutputBits {
  std::string product;
  std::string implementation;
  std::uint64_t hash = 0;
  std::int64_t trials = 0;
  std::vector<std::string> examples;  // "node7 cuda:3", those of the first runs
};

/// The outputs of a case whose bits are not everywhere the same.
struct BitDifference {
  std::string case_id;
  std::string suite;
  std::string op;
  std::string dtype;
  std::uint64_t seed = 0;
  /// Products in turn, and implementations of each; the most frequent bits of those first.
  std::vector<OutputBits> outputs;
  bool many = false;            // further bits of this case were not kept
  bool within_product = false;  // one implementation differs on devices of one product
};

/// Any number of runs, reduced to 8 bytes a time.
struct Fleet {
  std::vector<FleetCase> cases;        // in the order of their texts
  std::vector<FleetMachine> machines;  // in the order of their first runs
  std::vector<FailedTrial> failures;   // at most max_failures, in the order of the runs
  std::vector<BitDifference> differences;
  std::size_t cases_with_same_bits = 0;  // of those that several trials computed
  std::size_t runs = 0;
  std::int64_t left_out_stand_ins = 0;  // trials
  std::set<std::string> builds;

  static constexpr std::size_t max_failures = 1000;
  std::int64_t failed_trials() const;
};

/// Cases and devices that are wanted.
struct FleetSelection {
  std::function<bool(const FleetCase&)> test = [](const FleetCase&) { return true; };
  std::function<bool(const std::string& lane)> lane = [](const std::string&) { return true; };
  bool stand_ins = false;
};

/// Adds runs in any order; the fleet is the same. Several threads may add.
class FleetBuilder {
 public:
  explicit FleetBuilder(FleetSelection selection) : selection_(std::move(selection)) {}

  /// Adds run number `run`, each once.
  void add(std::size_t run, const RunInfo& info, const StoredTrials& trials,
           std::span<const Limit> limits = {});

  /// Names in the added runs, wanted or not.
  const std::set<std::string>& suites() const { return suites_; }
  const std::set<std::string>& lanes() const { return lanes_; }
  std::vector<std::string> case_ids() const;

  Fleet finish();

 private:
  static constexpr std::uint32_t unwanted = std::numeric_limits<std::uint32_t>::max();
  struct Known {
    std::uint32_t test = unwanted;
    std::uint32_t judged = 0;
  };
  struct Bits {
    std::uint64_t seed = 0;
    std::uint32_t product = 0;
    std::string implementation;
    std::uint64_t hash = 0;
    std::int64_t trials = 0;
    std::vector<std::pair<std::size_t, std::string>> examples;  // the first runs, and their devices
  };
  /// Outputs of a case, whatever it ran on.
  struct Judged {
    std::string case_id;
    std::uint32_t test = 0;  // any case of this id
    std::vector<Bits> bits;
    bool many = false;
  };
  using Runs = std::map<std::size_t, std::vector<FleetTime>>;
  struct Machine {
    FleetMachine machine;
    std::uint32_t product = 0;
    std::pair<std::size_t, std::size_t> first;  // run, and index in it
    std::size_t last_run = std::numeric_limits<std::size_t>::max();
    std::map<std::string, Runs> units;
    /// Measures by figure, run and device: each the one that stands for its figure.
    std::map<std::tuple<std::uint32_t, std::size_t, std::string>, KeyMeasure> measures;
  };
  struct Lane;
  using Lanes = std::map<std::pair<std::string_view, bool>, Lane>;  // by device and stand-in

  Lane lane_of(std::size_t run, std::size_t index, const RunInfo& info, const StoredTrials& trials,
               const StoredTrial& trial);
  Known known(const StoredTrial& trial);
  void add_measure(const Lane& lane, std::size_t run, std::uint32_t figure, KeyMeasure measure);
  void add_measures(std::size_t run, const StoredTrials& trials, std::span<const Limit> limits,
                    const Lanes& lanes);
  void add_bits(Judged& judged, const Lane& lane, std::size_t run, const RunInfo& info,
                const StoredTrial& trial);
  std::vector<std::uint32_t> sort_cases(Fleet& fleet);
  void finish_machines(Fleet& fleet, const std::vector<std::uint32_t>& indices);
  void finish_bits(Fleet& fleet);

  FleetSelection selection_;
  std::mutex mutex_;
  std::string key_;  // reused
  std::unordered_map<std::string, Known> known_;
  std::vector<FleetCase> cases_;
  std::unordered_map<std::string, std::uint32_t> judged_;  // by case id
  std::vector<Judged> outputs_;
  std::map<std::string, std::uint32_t> products_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> machine_indices_;  // host, product
  std::vector<Machine> machines_;
  std::map<std::pair<std::size_t, std::size_t>, FailedTrial> failures_;  // by run and index
  std::int64_t left_out_stand_ins_ = 0;
  std::set<std::string> suites_;
  std::set<std::string> lanes_;
  std::set<std::string> builds_;
  std::size_t runs_ = 0;
};

}  // namespace assay
