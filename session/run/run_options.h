#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "harness/records/record.h"
#include "session/options/selection_options.h"

namespace assay {

/// Options of `assay run` beside a selection.
struct RunOptions {
  SelectionOptions selection;
  std::filesystem::path out;
  std::filesystem::path resume;
  double timeout_s = 0;  // 0: the profile's
  double budget_s = 0;   // 0: none
  int repeat = 1;
  int retries = 0;
  bool allow_flaky = false;
  bool fail_fast = false;
  std::filesystem::path expected;
  std::filesystem::path choices;
  int lanes = 0;  // 0: one more than this machine has cores
  bool overlap_timings = false;
  bool wait = false;
  bool no_limits = false;
  bool jsonl = false;
  bool quiet = false;
};

/// Options beside case, device and seed that a replay needs: "--threads 1 --timeout 2".
std::function<std::string(const Record&)> replay_flags(const RunOptions& options);

/// Limit for one case: that of the options, or of the profile.
double timeout_s(const RunOptions& options);

}  // namespace assay
