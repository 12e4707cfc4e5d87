#pragma once

#include <cfenv>
#include <optional>
#include <string>

namespace assay {

/// What launches share with all that their process does later: how many threads a parallel region
/// gets, and how each of them rounds and whether it keeps subnormal numbers. A library that leaves
/// one of them changed spoils the results and times of other cases, and none of its own.
class ProcessState {
 public:
  /// As it is now.
  ProcessState();
  /// As it was, again, as far as a process can be mended.
  ~ProcessState();
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  /// What is not as it was; and arithmetic that no reference may be computed in, whoever began it:
  /// "leaves OpenMP with 1 thread, not 2".
  std::optional<std::string> changed() const;

 private:
  std::fenv_t floating_point_{};
  int most_threads_;  // that a region asks for
  int threads_;       // that one gets
  bool may_vary_;     // with the load of the machine
  int levels_;
};

}  // namespace assay
