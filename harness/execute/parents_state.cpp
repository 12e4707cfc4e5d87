#include "harness/execute/parents_state.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace assay {
namespace {

/// The supervisor takes other processors for as long as it starts a worker.
constexpr auto start_of_worker = std::chrono::milliseconds(100);

}  // namespace

std::optional<ParentsState::State> ParentsState::read(pid_t process, const char* role) {
  State state{.process = process, .role = role};
  errno = 0;
  state.nice = getpriority(PRIO_PROCESS, static_cast<id_t>(process));
  state.policy = sched_getscheduler(process);
  const bool is_read = errno == 0 && state.policy >= 0;
  if (!is_read || sched_getaffinity(process, sizeof state.processors, &state.processors) != 0) {
    return std::nullopt;  // it has ended, or has more processors than a set holds
  }
  return state;
}

ParentsState::ParentsState() {
  if (const auto state = read(getpid(), "the judge")) before_.push_back(*state);
  if (const auto state = read(getppid(), "the supervisor")) before_.push_back(*state);
}

std::optional<std::string> ParentsState::difference(const State& before) {
  const auto now = read(before.process, before.role);
  if (!now) return std::nullopt;
  if (now->nice != before.nice) {
    return fmt::format("leaves {} with priority {}, not {}", before.role, now->nice, before.nice);
  }
  if (now->policy != before.policy) {
    return fmt::format("leaves {} with another scheduling policy", before.role);
  }
  if (CPU_EQUAL(&now->processors, &before.processors)) return std::nullopt;
  return fmt::format("leaves {} on {} processors, not the same {}", before.role,
                     CPU_COUNT(&now->processors), CPU_COUNT(&before.processors));
}

std::optional<std::string> ParentsState::changed() const {
  for (const State& before : before_) {
    if (!difference(before)) continue;
    std::this_thread::sleep_for(start_of_worker);
    auto found = difference(before);
    if (!found) continue;
    sched_setaffinity(before.process, sizeof before.processors, &before.processors);
    return found;
  }
  return std::nullopt;
}

}  // namespace assay
