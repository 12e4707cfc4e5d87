#pragma once

#include <filesystem>

#include "harness/records/record.h"
#include "harness/supervise/worker_process.h"
#include "reports/files/csv_file.h"

namespace assay {

/// Lets a worker take the choices that times decided from the first worker of its run. The ranks of
/// a job each choose anew.
void share_choices(const std::filesystem::path& run_directory, WorkerCommand& command);

/// Takes the choices of a run from a file of the user's, and adds to it those that are new.
class KeptChoices final : public Sink {
 public:
  /// `file` may be empty. Makes it for a new run; a resumed one has its own choices, and adds to
  /// the file only if it is still there. Throws UsageError if it is no file of choices, or cannot
  /// be written.
  KeptChoices(std::filesystem::path file, Start start);

  void begin(const RunInfo& run) override;
  void result(const Result& /*result*/) override {}
  void end(const RunInfo& run) override;

 private:
  std::filesystem::path file_;
  Start start_;
};

}  // namespace assay
