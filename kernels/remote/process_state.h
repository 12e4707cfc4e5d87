#pragma once

#include <cfenv>
#include <optional>
#include <string>

namespace assay {

/// State that launches share with all later work of their process: the thread count of parallel
/// regions, and each thread's rounding mode and handling of subnormals. A library that leaves it
/// changed spoils results and times of other cases, not its own.
class ProcessState {
 public:
  /// Saves the current state.
  ProcessState();
  /// Restores the saved state as far as a process can.
  ~ProcessState();
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  /// Describes what changed, and any arithmetic unfit for computing references, whoever set it:
  /// "leaves OpenMP with 1 thread, not 2".
  std::optional<std::string> changed() const;

 private:
  std::fenv_t floating_point_{};
  int max_threads_;  // requested by a region
  int threads_;      // granted to a region
  bool may_vary_;    // thread count, with the machine's load
  int levels_;
};

}  // namespace assay
