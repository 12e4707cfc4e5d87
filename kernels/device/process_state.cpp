#include "kernels/device/process_state.h"

#include <fmt/format.h>
#include <omp.h>
#include <pthread.h>
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

/// Reads a clock; negative for that of a thread that has ended.
std::int64_t time_ns(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
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

ProcessState::Team ProcessState::ask_team() const {
  int threads = 0;
  int rounding_otherwise = 0;
  int flushing = 0;
  clocks_.clear();
#pragma omp parallel reduction(+ : threads, rounding_otherwise, flushing)
  {
    if (omp_get_thread_num() > 0) {
      clockid_t clock{};
      pthread_getcpuclockid(pthread_self(), &clock);
#pragma omp critical(assay_clocks_of_team)
      clocks_.push_back(clock);
    }
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
  if (is_clean_) {  // the other threads too
    std::fesetenv(&floating_point_);
    return;
  }
#pragma omp parallel
  std::fesetenv(&floating_point_);
}

void ProcessState::watch() {
  if (!is_clean_) return;
  is_clean_ = false;
  is_watched_ = true;
  ran_ns_.clear();
  for (const clockid_t clock : clocks_) ran_ns_.push_back(time_ns(clock));
}

/// Each thread of the own process was right when it was found unchanged, or watched since.
bool ProcessState::may_others_have_changed() const {
  if (process_ != Process::own || omp_get_max_active_levels() != levels_) return true;
  if (is_clean_) return false;
  if (!is_watched_) return true;
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    const std::int64_t now_ns = time_ns(clocks_[i]);
    if (now_ns < 0 || now_ns != ran_ns_[i]) return true;
  }
  return false;
}

std::optional<std::string> ProcessState::changed() const {
  auto change = changed_team();
  if (!change) change = changed_signals();
  if (!change) change = changed_priority();
  is_clean_ = !change;
  is_watched_ = false;
  return change;
}

std::optional<std::string> ProcessState::changed_team() const {
  if (const int most = omp_get_max_threads(); most != max_threads_) {
    return fmt::format("leaves OpenMP with {}, not {}", threads_text(most), max_threads_);
  }
  if (!may_vary_ && omp_get_dynamic() != 0) return "leaves OpenMP free to take fewer threads";
  const Team team = may_others_have_changed()
                        ? ask_team()
                        : Team{.threads = team_.threads,
                               .rounding_otherwise = rounds_to_nearest() ? 0 : 1,
                               .flushing = keeps_subnormals() ? 0 : 1};
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
  return std::nullopt;
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
