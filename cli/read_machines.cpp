#include "cli/read_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>

#include "cli/lane_filter.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/compare/completed_run.h"
#include "reports/files/table_file.h"
#include "session/console/stderr_message.h"
#include "suites/filter.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

/// Why the directories with damaged runs cannot be read, by their numbers.
using Damages = std::map<std::size_t, std::string>;

/// Calls `read(i)` for each number on all cores. After a UsageError, unless `skips`, none is begun;
/// those before it have been, so that the first damage is always the same.
Damages for_each(std::size_t count, bool skips, const std::function<void(std::size_t)>& read) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stops = false;
  std::mutex mutex;
  Damages damages;
  const auto work = [&] {
    for (std::size_t i = next++; i < count && !stops; i = next++) {
      try {
        read(i);
      } catch (const UsageError& damage) {
        const std::lock_guard lock(mutex);
        damages.emplace(i, damage.what());
        stops = !skips;
      }
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::future<void>> threads;
  for (std::size_t i = 0; i < std::min(cores, count); ++i) {
    threads.push_back(std::async(std::launch::async, work));
  }
  for (auto& thread : threads) thread.get();
  return damages;
}

void pass_over(const MachinesInput& input, const Damages& damages, StoredFleet& stored) {
  for (const auto& [i, damage] : damages) {
    if (!input.skip_damaged) {
      throw UsageError(fmt::format("{}; --skip-damaged leaves it out", damage));
    }
    say("skipped: {}\n", damage);
    stored.passed_over.push_back(damage);
  }
}

struct Directory {
  fs::path path;
  RunInfo run;  // the facts that count here
};

/// Returns the directories of whole runs, each run once.
std::vector<Directory> read_runs(const MachinesInput& input, StoredFleet& stored) {
  const std::vector<fs::path> paths = find_run_directories(input.paths);
  std::vector<std::optional<Directory>> read(paths.size());
  const Damages damages = for_each(paths.size(), input.skip_damaged, [&](std::size_t i) {
    const EndedRun ended = read_ended_run(paths[i]);
    Directory& directory = read[i].emplace(Directory{.path = paths[i], .run = {}});
    directory.run.run_id = ended.run.run_id;
    directory.run.host = ended.run.host;
    directory.run.build_id = ended.run.build_id;
    directory.run.seed = ended.run.seed;
  });
  pass_over(input, damages, stored);
  std::vector<Directory> runs;
  std::map<std::string, fs::path> seen;
  for (auto& directory : read) {
    if (!directory) continue;
    const auto [first, is_new] = seen.emplace(directory->run.run_id, directory->path);
    if (!is_new) {
      say("skipped: {} is the run {}, as {} is\n", directory->path.string(), directory->run.run_id,
          first->second.string());
      continue;
    }
    runs.push_back(std::move(*directory));
  }
  return runs;
}

std::vector<std::string> listed(const std::set<std::string>& names) {
  return {names.begin(), names.end()};
}

/// Throws UsageError for names of the selection that no run has.
void check_names(const MachinesInput& input, const FleetBuilder& builder) {
  const std::vector<std::string> suites = listed(builder.suites());
  for (const std::string& suite : input.suites) {
    if (std::ranges::count(suites, suite) == 0) {
      throw UsageError("--suite: " + unknown_name("suite", suite, suites));
    }
  }
  check_wanted_lanes(input.devices, listed(builder.lanes()));
  if (input.cases.empty()) return;
  const std::vector<std::string> ids = builder.case_ids();
  for (const std::string& test : input.cases) {
    if (std::ranges::binary_search(ids, test)) continue;
    const std::vector<std::string> near = nearest(test, ids);
    throw UsageError(
        fmt::format("--case: no run has '{}'{}", test,
                    near.empty() ? "" : "; did you mean '" + join(near, "' or '") + "'?"));
  }
}

}  // namespace

StoredFleet read_fleet(const MachinesInput& input) {
  StoredFleet stored;
  const Filter filter(input.filter);
  const auto is_among = [](const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::ranges::count(names, name) > 0;
  };
  FleetBuilder builder(
      {.test =
           [&](const FleetCase& test) {
             return is_among(input.suites, test.suite) && is_among(input.cases, test.case_id) &&
                    filter.matches(test.case_id);
           },
       .lane = [&](const std::string& lane) { return is_wanted_lane(lane, input.devices); },
       .stand_ins = input.stand_ins});
  const std::vector<Directory> runs = read_runs(input, stored);
  const Damages damages = for_each(runs.size(), input.skip_damaged, [&](std::size_t i) {
    const StoredTrials trials(runs[i].path / "results.csv");
    builder.add(i, runs[i].run, trials, read_table_file<Limit>(runs[i].path / "limits.csv"));
  });
  pass_over(input, damages, stored);
  if (runs.size() == damages.size()) throw UsageError("no run directory could be read");
  if (!builder.lanes().empty()) check_names(input, builder);
  stored.fleet = builder.finish();
  for (const Directory& run : runs) stored.runs.push_back(run.path.string());
  if (stored.fleet.cases.empty() && !builder.lanes().empty()) {
    throw UsageError(fmt::format("--filter '{}' selects no case of these {} runs", input.filter,
                                 stored.fleet.runs));
  }
  if (stored.fleet.machines.empty() && stored.fleet.left_out_stand_ins > 0) {
    throw UsageError(
        "these runs are of stand-ins for devices alone, whose times are no hardware's; --stand-ins "
        "to try things out");
  }
  return stored;
}

}  // namespace assay::cli
