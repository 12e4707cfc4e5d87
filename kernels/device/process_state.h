#pragma once

#include <array>
#include <cfenv>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// State that launches share with all later work of their process: the thread count of parallel
/// regions, each thread's rounding mode and handling of subnormals, the calling thread's signal
/// mask and priority. A library that leaves it changed spoils results and times of other cases, not
/// its own.
class ProcessState {
 public:
  /// Tells whose process it is. One of others keeps its state, however its import or preparation
  /// has set it. Handlers of signals count where the device's memory is the host's, whose pages
  /// they could watch. For a GPU's kernels just-in-time compilers (LLVM, and so Triton) set some
  /// when they are first launched.
  enum class Process { own, of_others, of_others_on_gpu };
  /// Saves the current state.
  explicit ProcessState(Process process = Process::own);
  /// Restores the saved state of the own process as far as it can.
  ~ProcessState();
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  /// Call it before work that may change the state: threads of the team that do not run from then
  /// on cannot have changed, and need not be woken to be asked.
  void watch();
  /// Describes what changed, and in the own process any arithmetic unfit for computing references,
  /// whoever set it:
  /// "leaves OpenMP with 1 thread, not 2".
  std::optional<std::string> changed() const;

 private:
  /// Counts of the threads in a parallel region.
  struct Team {
    int threads = 0;  // granted
    int rounding_otherwise = 0;
    int flushing = 0;
  };
  Team ask_team() const;
  bool may_others_have_changed() const;
  std::optional<std::string> changed_team() const;
  std::optional<std::string> changed_signals() const;
  std::optional<std::string> changed_priority() const;

  Process process_;
  std::fenv_t floating_point_{};
  int max_threads_;  // requested by a region
  // Clocks of the other threads' time, before the team that fills them, and what they showed when
  // watched.
  mutable std::vector<clockid_t> clocks_;
  std::vector<std::int64_t> ran_ns_;
  Team team_;
  bool may_vary_;  // thread count, with the machine's load
  int levels_;
  sigset_t mask_{};
  std::array<void*, NSIG> handlers_{};  // of others' process
  int nice_;
  int policy_;
  mutable bool is_clean_ = false;  // nothing that may change it since it was found unchanged
  mutable bool is_watched_ = false;
};

}  // namespace assay
