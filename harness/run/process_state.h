#pragma once

#include <cfenv>
#include <optional>
#include <string>

namespace assay {

/// What launches share with all that their thread does later: how many threads OpenMP takes, how
/// sums are rounded, whether subnormal numbers are kept. A library that leaves one of them changed
/// spoils the results and times of other cases, and none of its own.
class ProcessState {
 public:
  /// As it is now.
  ProcessState();
  /// As it was, again.
  ~ProcessState();
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  /// What is not as it was.
  std::optional<std::string> changed() const;

 private:
  std::fenv_t floating_point_{};
  int rounding_;
  bool keeps_subnormals_;
  int threads_;
};

}  // namespace assay
