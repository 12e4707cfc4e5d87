#include "reports/compare/completed_run.h"

#include <fmt/format.h>

#include "harness/records/replay.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& directory, std::string_view why) {
  throw UsageError(fmt::format("'{}' {}", directory.string(), why));
}

void check_complete(const StoredRun& run) {
  const std::string remedy =
      fmt::format("complete it: assay run --resume {}", shell_word(run.directory.string()));
  if (!run.ended()) {
    refuse(run.directory, "holds a run that has not ended: it goes on, or was killed; " + remedy);
  }
  if (run.interrupted) {
    refuse(run.directory, "holds a run that was interrupted; " + remedy);
  }
}

}  // namespace

EndedRun read_ended_run(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) refuse(directory, "is not a directory");
  for (const char* const file : {"run.json", "devices.csv", "results.csv"}) {
    if (fs::is_regular_file(directory / file, error)) continue;
    refuse(directory, fmt::format("is not a run directory: it has no {}; give what 'assay run' "
                                  "wrote (--out DIR, or assay-runs/TIME-HOST)",
                                  file));
  }
  EndedRun ended{.run = read_stored_run(directory)};
  check_complete(ended.run);
  ended.devices = read_stored_devices(directory);
  return ended;
}

}  // namespace assay
