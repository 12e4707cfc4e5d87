#include "kernels/device/process_state.h"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <sys/resource.h>

#include <cstring>
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

std::string threads_text(int threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

std::string signal_text(int signal) {
  return fmt::format("signal {} ({})", signal, strsignal(signal));
}

/// Handlers of all signals; null of those that the C library keeps to itself.
std::array<void*, NSIG> read_handlers() {
  std::array<void*, NSIG> handlers{};
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    handlers.at(static_cast<std::size_t>(signal)) = reinterpret_cast<void*>(action.sa_handler);
  }
  return handlers;
}

sigset_t read_mask() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return mask;
}

}  // namespace

ProcessState::Team ProcessState::ask_team() {
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

ProcessState::ProcessState(Process process)
    : process_(process),
      max_threads_(omp_get_max_threads()),
      team_(ask_team()),
      may_vary_(omp_get_dynamic() != 0),
      levels_(omp_get_max_active_levels()),
      mask_(read_mask()),
      nice_(getpriority(PRIO_PROCESS, 0)),
      policy_(sched_getscheduler(0)) {
  std::fegetenv(&floating_point_);
  if (process_ == Process::of_others) handlers_ = read_handlers();
  if (process_ == Process::own) {
    team_.rounding_otherwise = 0;
    team_.flushing = 0;
  }
}

ProcessState::~ProcessState() {
  if (process_ != Process::own) return;
  pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
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
  if (!may_vary_ && team.threads != team_.threads) {
    return fmt::format("leaves parallel regions with {}, not {}", threads_text(team.threads),
                       team_.threads);
  }
  if (team.rounding_otherwise > team_.rounding_otherwise) {
    return fmt::format("leaves another rounding mode than to nearest in {}",
                       threads_text(team.rounding_otherwise));
  }
  if (team.flushing > team_.flushing) {
    return fmt::format("leaves subnormal numbers flushed to zero in {}",
                       threads_text(team.flushing));
  }
  if (auto change = changed_signals()) return change;
  return changed_priority();
}

std::optional<std::string> ProcessState::changed_signals() const {
  const sigset_t mask = read_mask();
  for (int signal = 1; signal < NSIG; ++signal) {
    const bool is_blocked = sigismember(&mask, signal) == 1;
    if (is_blocked == (sigismember(&mask_, signal) == 1)) continue;
    return fmt::format("leaves {} {}", signal_text(signal), is_blocked ? "blocked" : "unblocked");
  }
  if (process_ != Process::of_others) return std::nullopt;
  const auto handlers = read_handlers();
  for (std::size_t signal = 1; signal < handlers.size(); ++signal) {
    if (handlers.at(signal) == handlers_.at(signal)) continue;
    return fmt::format("leaves another handler of {}", signal_text(static_cast<int>(signal)));
  }
  return std::nullopt;
}

std::optional<std::string> ProcessState::changed_priority() const {
  if (const int nice = getpriority(PRIO_PROCESS, 0); nice != nice_) {
    return fmt::format("leaves its process with priority {}, not {}", nice, nice_);
  }
  if (sched_getscheduler(0) != policy_) return "leaves its process with another scheduling policy";
  return std::nullopt;
}

}  // namespace assay
