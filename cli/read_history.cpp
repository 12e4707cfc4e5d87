#include "cli/read_history.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "cli/lane_filter.h"
#include "kernels/core/status.h"
#include "session/console/stderr_message.h"
#include "session/options/validators.h"
#include "suites/filter.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

/// Reports an error of `read` with --skip-damaged, and throws it otherwise. Returns whether it
/// read.
template <class Read>
bool read_or_skip(const HistoryInput& input, std::vector<std::string>& passed_over,
                  const Read& read) {
  try {
    read();
    return true;
  } catch (const UsageError& damage) {
    if (!input.skip_damaged) {
      throw UsageError(fmt::format("{}; --skip-damaged leaves it out", damage.what()));
    }
    say("skipped: {}\n", damage.what());
    passed_over.emplace_back(damage.what());
    return false;
  }
}

std::vector<StoredRun> read_runs(const HistoryInput& input, std::vector<std::string>& passed_over) {
  std::vector<StoredRun> runs;
  std::map<std::string, fs::path> seen;
  for (const fs::path& directory : find_run_directories(input.paths)) {
    StoredRun run;
    if (!read_or_skip(input, passed_over, [&] { run = read_stored_run(directory); })) continue;
    const auto [first, is_new] = seen.emplace(run.run_id, directory);
    if (!is_new) {
      say("skipped: {} is the run {}, as {} is\n", directory.string(), run.run_id,
          first->second.string());
      continue;
    }
    if (!run.ended()) say("note: {} did not end; the rows that it has are used\n", run.run_id);
    runs.push_back(std::move(run));
  }
  if (runs.empty()) throw UsageError("no run directory could be read");
  return runs;
}

}  // namespace

StoredHistory read_history(const HistoryInput& input) {
  StoredHistory stored;
  std::vector<std::string>& passed_over = stored.passed_over;
  const Filter filter(input.filter);
  HistoryBuilder builder(read_runs(input, passed_over), input.reference);
  const std::vector<StoredRun>& runs = builder.history().runs;
  for (std::size_t i = 0; i < runs.size();) {
    std::vector<Record> records;
    if (!read_or_skip(input, passed_over, [&] { records = read_stored_results(runs[i]); })) {
      builder.drop(i);
      continue;
    }
    builder.add(i++, records, [&](const SeriesKey& key) {
      return filter.matches(key.case_id) && is_wanted_lane(key.device, input.devices);
    });
  }
  if (runs.empty()) throw UsageError("no run directory could be read");
  const std::vector<std::string> devices = builder.devices();
  if (!devices.empty()) check_wanted_lanes(input.devices, devices);
  History& history = stored.history;
  history = builder.finish(input.within_h * 3600);
  if (history.series.empty() && !devices.empty() && !input.filter.empty()) {
    throw UsageError(fmt::format("--filter '{}' selects no timed case of these {} runs",
                                 input.filter, history.runs.size()));
  }
  return stored;
}

void add_history_options(CLI::App& app, HistoryInput& o) {
  app.add_option("--filter", o.filter, "only cases whose id matches (searched)")
      ->type_name("REGEX");
  app.add_option("--device", o.devices, "only these devices: cpu, cuda (all of them), cuda:1")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  CLI::Option* reference = app.add_option(
      "--reference", o.reference,
      "divide each time by that of this build, run at the same time: the first digits of its git "
      "revision or build id");
  reference->type_name("BUILD")->check([](const std::string& text) {
    return text.empty() ? std::string("must not be empty: it would match every build")
                        : std::string();
  });
  app.add_option("--within", o.within_h, "the largest distance in time to a run of the reference")
      ->check(number_between(0, 1e6))
      ->type_name("HOURS")
      ->capture_default_str()
      ->needs(reference);
  app.add_flag("--skip-damaged", o.skip_damaged,
               "leave out run directories that cannot be read, and list them");
}

}  // namespace assay::cli
