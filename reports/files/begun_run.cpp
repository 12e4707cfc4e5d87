#include "reports/files/begun_run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "harness/records/fields_text.h"
#include "harness/records/limit.h"
#include "harness/records/replay.h"
#include "kernels/core/status.h"
#include "reports/files/csv_file.h"
#include "reports/files/results_reader.h"
#include "reports/files/run_start.h"
#include "reports/files/samples_csv.h"
#include "reports/files/table_file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Refuses links: writing through one would change a file elsewhere.
void check_own_file(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;  // reading it reports why
  const auto refuse = [&](std::string_view what) {
    throw UsageError(
        fmt::format("'{}' is {}, and a run writes only to its own files: put a copy "
                    "in its place",
                    path.string(), what));
  };
  if (S_ISLNK(status.st_mode)) refuse("a link");
  if (!S_ISREG(status.st_mode)) refuse("not a regular file");
  if (status.st_nlink > 1) refuse("a file with several names");
}

void check_is_run(const fs::path& directory) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(directory / "run.json", error))) return;
  if (is_run_start(directory)) {
    throw UsageError(fmt::format(
        "'{0}' holds a run that was killed before it had begun, so there is nothing to complete: "
        "give its command again, with --out {1}",
        directory.string(), shell_word(directory.string())));
  }
  throw UsageError(
      fmt::format("'{}' is not a run directory: it has no run.json", directory.string()));
}

}  // namespace

BegunRun read_begun_run(const fs::path& directory) {
  check_is_run(directory);
  for (const std::string_view name : run_file_names()) check_own_file(directory / name);
  BegunRun begun{.run = read_stored_run(directory)};
  begun.devices = read_stored_devices(directory);
  begun.plan = read_plan(directory / "plan.csv");
  const fs::path results = directory / "results.csv";
  resumable_length(results, field_names<Record>());
  begun.records = read_whole_results(results);
  if (const fs::path samples = directory / "samples.csv"; fs::exists(samples)) {
    resumable_length(samples, field_names<SampleRow>());
  }
  if (const fs::path limits = directory / "limits.csv"; fs::exists(limits)) {
    resumable_length(limits, field_names<Limit>());
    read_table_file<Limit>(limits, LastRow::maybe_torn);
  }
  return begun;
}

}  // namespace assay
