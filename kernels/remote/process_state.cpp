#include "harness/execute/process_state.h"

#include <fmt/format.h>
#include <omp.h>

#include <limits>

namespace assay {
namespace {

// Test both by arithmetic: each processor names its control bits differently, and fegetround()
// reads only those of the x87. Volatile prevents folding: the compiler assumes the default mode.

bool keeps_subnormals() {
  volatile float smallest_normal = std::numeric_limits<float>::min();
  volatile float subnormal = smallest_normal / 2;  // zero if results are flushed
  return subnormal * 2 != 0;                       // zero if operands are flushed
}

bool rounds_to_nearest() {
  volatile double one = 1;
  volatile double little = 0x1p-60;
  const bool up = one + little != 1;
  const bool down = -one - little != -1;
  const bool to_zero = one - little != 1;
  return !up && !down && !to_zero && std::fegetround() == FE_TONEAREST;
}

/// Counts of the threads in a parallel region.
struct Team {
  int threads = 0;
  int rounding_otherwise = 0;
  int flushing = 0;
};

Team ask_team() {
  int threads = 0;
  int rounding_otherwise = 0;
  int flushing = 0;
#pragma omp parallel reduction(+ : threads, rounding_otherwise, flushing)
  {
    threads = 1;
    rounding_otherwise = rounds_to_nearest() ? 0 : 1;
    flushing = keeps_subnormals() ? 0 : 1;
  }
  return {threads, rounding_otherwise, flushing};
}

std::string threads_text(int threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

}  // namespace

ProcessState::ProcessState()
    : max_threads_(omp_get_max_threads()),
      threads_(ask_team().threads),
      may_vary_(omp_get_dynamic() != 0),
      levels_(omp_get_max_active_levels()) {
  std::fegetenv(&floating_point_);
}

ProcessState::~ProcessState() {
  omp_set_max_active_levels(levels_);
  omp_set_dynamic(may_vary_ ? 1 : 0);
  omp_set_num_threads(max_threads_);
#pragma omp parallel
  std::fesetenv(&floating_point_);
}

std::optional<std::string> ProcessState::changed() const {
  if (const int most = omp_get_max_threads(); most != max_threads_) {
    return fmt::format("leaves OpenMP with {}, not {}", threads_text(most), max_threads_);
  }
  if (!may_vary_ && omp_get_dynamic() != 0) return "leaves OpenMP free to take fewer threads";
  const Team team = ask_team();
  if (!may_vary_ && team.threads != threads_) {
    return fmt::format("leaves parallel regions with {}, not {}", threads_text(team.threads),
                       threads_);
  }
  if (team.rounding_otherwise > 0) {
    return fmt::format("leaves another rounding mode than to nearest in {}",
                       threads_text(team.rounding_otherwise));
  }
  if (team.flushing > 0) {
    return fmt::format("leaves subnormal numbers flushed to zero in {}",
                       threads_text(team.flushing));
  }
  return std::nullopt;
}

}  // namespace assay
