#pragma once

#include <filesystem>
#include <string>

#include "session/options/selection_options.h"

namespace assay {

/// Options of `assay soak`. Those of a begun soak are read again from its stored command line.
struct SoakOptions {
  SelectionOptions selection;  // its devices, seed and cases
  std::filesystem::path out;
  std::filesystem::path resume;
  std::string duration;    // as typed; required for a new soak
  std::string interval;    // as typed; empty: the default
  double timeout_s = 300;  // beyond the interval: all devices are verified side by side
  bool fail_fast = false;
  bool wait = false;
  bool quiet = false;
};

}  // namespace assay
