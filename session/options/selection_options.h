#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "session/options/trial_options.h"
#include "suites/select.h"

namespace assay {

/// Options that choose trials and say how they run, the same for every subcommand.
struct SelectionOptions : TrialOptions {
  Selection cases;
  std::vector<std::string> devices{"all"};
  std::vector<std::string> require;
  bool check_only = false;
  bool stand_ins = false;  // take times of what stands for a device
  std::vector<std::string> timings{std::string(batch_timing)};
  /// The `assay` whose workers execute the trials; empty: this program.
  std::filesystem::path program;
};

}  // namespace assay
