#include "harness/run/process_state.h"

#include <fmt/format.h>
#include <omp.h>

#include <limits>

namespace assay {
namespace {

/// Asked by arithmetic, as the control bits have another name on each processor. Volatile: the
/// compiler knows the answer of a processor that nobody has changed.
bool keeps_subnormals() {
  volatile float smallest_normal = std::numeric_limits<float>::min();
  volatile float subnormal = smallest_normal / 2;  // flushed where results are
  return subnormal * 2 != 0;                       // or where operands are
}

}  // namespace

ProcessState::ProcessState()
    : rounding_(std::fegetround()),
      keeps_subnormals_(keeps_subnormals()),
      threads_(omp_get_max_threads()) {
  std::fegetenv(&floating_point_);
}

ProcessState::~ProcessState() {
  std::fesetenv(&floating_point_);
  omp_set_num_threads(threads_);
}

std::optional<std::string> ProcessState::changed() const {
  if (const int threads = omp_get_max_threads(); threads != threads_) {
    return fmt::format("left OpenMP with {} thread{}, not {}", threads, threads == 1 ? "" : "s",
                       threads_);
  }
  if (std::fegetround() != rounding_) return "left another rounding mode";
  if (keeps_subnormals() != keeps_subnormals_) {
    return keeps_subnormals_ ? "left subnormal numbers flushed to zero"
                             : "left subnormal numbers kept";
  }
  return std::nullopt;
}

}  // namespace assay
