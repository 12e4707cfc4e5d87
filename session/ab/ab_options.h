#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/ab/paired_workers.h"
#include "harness/ab/rule.h"
#include "session/options/selection_options.h"

namespace assay {

/// Options of `assay ab` beside a selection.
struct AbOptions {
  SelectionOptions selection;
  ab::Both<std::filesystem::path> programs;        // empty: this program
  ab::Both<std::vector<std::string>> environment;  // NAME=VALUE
  ab::Both<std::string> kernels;                   // in place of the selection's
  ab::Both<std::string> pythons;                   // in place of the selection's
  ab::Both<std::vector<std::string>> sim_faults;   // beside those of the selection
  bool aa = false;
  bool sensitive = false;
  bool fail_on_inconclusive = false;
  std::optional<double> margin_percent;
  std::filesystem::path spread;  // the file; empty: none
  std::optional<int> rounds;
  std::optional<int> confirm;
  std::filesystem::path out;
  double timeout_s = 120;
  bool wait = false;
  bool quiet = false;
};

/// Sets all but the margin, which depends on the two sides. Throws UsageError.
ab::Rule rule_of(const AbOptions& options);

}  // namespace assay
