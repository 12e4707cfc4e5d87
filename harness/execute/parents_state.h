#pragma once

#include <sched.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Priority and processors of this process, which judges, and of its parent, which supervises.
/// Kernels of others run with the same rights, and could slow both down: their times would look
/// better beside them.
class ParentsState {
 public:
  /// Saves the current state.
  ParentsState();

  /// Describes what changed, and puts back the processors: "leaves the judge on 1 processor, not
  /// 2". A priority cannot be put back without rights.
  std::optional<std::string> changed() const;

 private:
  struct State {
    pid_t process = 0;
    const char* role = "";
    int nice = 0;
    int policy = 0;
    cpu_set_t processors{};
  };
  static std::optional<State> read(pid_t process, const char* role);
  static std::optional<std::string> difference(const State& before);

  std::vector<State> before_;
};

}  // namespace assay
