#include "cli/read_libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>
#include <sstream>
#include <utility>

#include "cli/run_flags.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "reports/compare/completed_run.h"
#include "session/console/stderr_message.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

/// Options that say which trials there are and on which data, each as text.
Settings asked_of(const EndedRun& run) {
  RunOptions options;
  try {
    options = parse_run_options(run.run.command_line);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("'{}': {}; give what 'assay run' wrote",
                                 run.run.directory.string(), error.what()));
  }
  const auto sorted = [](std::vector<std::string> words, const char* joint) {
    std::ranges::sort(words);
    return join(words, joint);
  };
  const Selection& cases = options.selection.cases;
  return {{"--profile", cases.profile},
          {"--suite", sorted(cases.suites, ",")},
          {"--filter", cases.filter},
          {"--case", sorted(cases.cases, " ")},
          {"--cases", cases.case_file.string()},
          {"--axis", sorted(cases.axes, " ")},
          {"--shard", cases.shard},
          {"--seed", std::to_string(run.run.seed)},
          {"--check-only", run.run.check_only ? "given" : ""},
          {"--timing", run.run.check_only ? "" : sorted(options.selection.timings, ",")}};
}

void check_asked(const EndedRun& first, const EndedRun& other) {
  const Settings here = asked_of(first);
  const Settings there = asked_of(other);
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i].second == there[i].second) continue;
    throw UsageError(
        fmt::format("'{}' was asked something else: {} is '{}' there and '{}' in '{}', so their "
                    "counts cannot stand side by side; repeat one with the options of the other",
                    other.run.directory.string(), here[i].first, there[i].second, here[i].second,
                    first.run.directory.string()));
  }
}

/// Refuses other references: what is right would be another question.
void check_references(const EndedRun& first, const EndedRun& other) {
  for (const auto& [option, file] :
       {std::pair("--own-ops", &RunInfo::own_ops), std::pair("--problem", &RunInfo::problem)}) {
    const GivenFile& here = first.run.*file;
    const GivenFile& there = other.run.*file;
    if (here.crc32.empty() || there.crc32.empty() || here.crc32 == there.crc32) continue;
    throw UsageError(
        fmt::format("'{}' and '{}' were judged by other references: the files of {} "
                    "differ, {} and {}; repeat one with the file of the other",
                    first.run.directory.string(), other.run.directory.string(), option,
                    here.path.string(), there.path.string()));
  }
}

void check_hardware(const EndedRun& first, const EndedRun& other,
                    const std::vector<DevicePair>& pairs) {
  const std::vector<Difference> different = hardware_differences(pairs);
  if (different.empty()) return;
  const Difference& one = different.front();
  throw UsageError(fmt::format(
      "different hardware: {} is '{}' in '{}' and '{}' in '{}', so their times are not the "
      "libraries' alone; give runs of one machine, or compare machines by 'assay machines'",
      one.what, one.base, first.run.directory.string(), one.cand, other.run.directory.string()));
}

/// Refuses a run that a budget or --fail-fast cut short: its kernels may have what it lacks.
void check_finished(const EndedRun& run, const StoredTrials& trials) {
  std::int64_t finished = 0;
  for (const StoredTrial& trial : trials.trials()) finished += trial.repeats;
  if (finished == run.run.planned) return;
  throw UsageError(fmt::format(
      "'{}' finished {} of {} trials, so what it lacks says nothing of its kernels; repeat it "
      "without --budget and --fail-fast",
      run.run.directory.string(), finished, run.run.planned));
}

std::vector<EndedRun> read_runs(std::span<const fs::path> paths) {
  std::vector<EndedRun> runs;
  for (const fs::path& path : find_run_directories(paths)) {
    EndedRun run = read_ended_run(path);
    const auto same = std::ranges::find_if(
        runs, [&](const EndedRun& other) { return other.run.run_id == run.run.run_id; });
    if (same == runs.end()) {
      runs.push_back(std::move(run));
    } else {
      say("skipped: {} is the run {}, as {} is\n", path.string(), run.run.run_id,
          same->run.directory.string());
    }
  }
  return runs;
}

std::string kernels_of(const RunInfo& run) {
  if (run.kernels.path.empty()) return "built-in " + run.version;
  return run.kernels_name.empty() ? run.kernels.path.filename().string() : run.kernels_name;
}

/// Adds the directory to names that several runs have.
std::vector<std::string> names_of(std::span<const EndedRun> runs) {
  std::vector<std::string> names;
  for (const EndedRun& run : runs) names.push_back(kernels_of(run.run));
  std::vector<std::string> distinct = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::count(names, names[i]) > 1) {
      distinct[i] += " in " + runs[i].run.directory.string();
    }
  }
  return distinct;
}

/// Words of one text that the other lacks.
std::string words_without(const std::string& text, const std::string& other) {
  std::istringstream of_text(text);
  std::istringstream of_other(other);
  const std::set<std::string> known{std::istream_iterator<std::string>(of_other), {}};
  std::vector<std::string> kept;
  for (std::string word; of_text >> word;) {
    if (!known.contains(word)) kept.push_back(word);
  }
  return join(kept, " ");
}

/// Differences but for the kernels, which the columns name. Of the options those that differ.
std::vector<Difference> differences_of(const EndedRun& first, const EndedRun& other,
                                       const std::vector<DevicePair>& pairs) {
  std::vector<Difference> differences = environment_differences(first, other, pairs);
  std::erase_if(differences, [](const Difference& one) { return one.what == "kernels"; });
  for (Difference& one : differences) {
    if (one.what != "options") continue;
    const std::string base = one.base;
    one.base = words_without(base, one.cand);
    one.cand = words_without(one.cand, base);
  }
  std::erase_if(differences, [](const Difference& one) { return one.base == one.cand; });
  return differences;
}

std::vector<std::unique_ptr<StoredTrials>> read_trials(std::span<const EndedRun> runs) {
  std::vector<std::future<std::unique_ptr<StoredTrials>>> reading;
  for (const EndedRun& run : runs) {
    reading.push_back(std::async(std::launch::async, [&run] {
      return std::make_unique<StoredTrials>(run.run.directory / "results.csv");
    }));
  }
  std::vector<std::unique_ptr<StoredTrials>> trials;
  for (auto& of_run : reading) trials.push_back(of_run.get());
  return trials;
}

}  // namespace

StoredLibraries read_libraries(std::span<const fs::path> paths) {
  const std::vector<EndedRun> runs = read_runs(paths);
  StoredLibraries stored;
  for (const EndedRun& run : runs) {
    const std::vector<DevicePair> pairs = pair_devices(runs.front(), run, false);
    check_hardware(runs.front(), run, pairs);
    check_asked(runs.front(), run);
    check_references(runs.front(), run);
    stored.differences.push_back(differences_of(runs.front(), run, pairs));
    stored.directories.push_back(run.run.directory.string());
  }
  stored.trials = read_trials(runs);
  const std::vector<std::string> names = names_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    check_finished(runs[i], *stored.trials[i]);
    LibraryRun& run = stored.runs.emplace_back(LibraryRun{names[i], *stored.trials[i], {}});
    for (const DeviceCells& device : runs[i].devices) run.devices.insert(device.at("device"));
  }
  return stored;
}

}  // namespace assay::cli
