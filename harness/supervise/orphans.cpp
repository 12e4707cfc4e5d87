#include "harness/supervise/orphans.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "kernels/core/clock.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Ends of orphans make orphans of their own children.
constexpr int max_generations = 16;
/// Time limit for one to end after KILL.
constexpr double orphan_end_s = 2;

struct Watch {
  std::function<void(const std::string&)> tell;
  std::set<pid_t> own;      // children that it had before
  std::set<pid_t> workers;  // at the last call
  bool is_first = true;     // a worker that told of the machine has ended before it
};
std::optional<Watch> watch;

struct Process {
  pid_t parent = 0;
  pid_t group = 0;
  std::string name;
};

/// Reads /proc/PID/stat; nothing if it has ended.
std::optional<Process> read_process(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t begin = stat.find('(');
  const std::size_t end = stat.rfind(") ");  // the name may hold anything
  if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
  Process process{.name = stat.substr(begin + 1, end - begin - 1)};
  char state = 0;
  std::istringstream(stat.substr(end + 2)) >> state >> process.parent >> process.group;
  return process;
}

void kill_and_reap(pid_t pid) {
  kill(pid, SIGKILL);
  for (const Deadline deadline = after(orphan_end_s); waitpid(pid, nullptr, WNOHANG) == 0;) {
    if (std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> children;
  std::error_code none;
  bool is_listed = false;
  for (const auto& task : fs::directory_iterator("/proc/self/task", none)) {
    std::ifstream file(task.path() / "children");
    is_listed = is_listed || file.is_open();
    for (pid_t pid = 0; file >> pid;) children.push_back(pid);
  }
  if (is_listed) return children;
  for (const auto& entry : fs::directory_iterator("/proc", none)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    const auto process = read_process(pid);
    if (process && process->parent == getpid()) children.push_back(pid);
  }
  return children;
}

void watch_orphans(std::function<void(const std::string&)> tell) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (watch) return;
  const std::vector<pid_t> own = children_of_this_process();
  watch = Watch{std::move(tell), {own.begin(), own.end()}, {}, true};
}

void end_orphans(std::span<const pid_t> workers) {
  if (!watch) return;
  const std::set<pid_t> now(workers.begin(), workers.end());
  const std::set<pid_t> before = std::exchange(watch->workers, now);
  const bool is_first = std::exchange(watch->is_first, false);
  if (!is_first && !now.empty() && std::ranges::includes(now, before)) return;
  for (int i = 0; i < max_generations; ++i) {
    bool is_clean = true;
    for (const pid_t pid : children_of_this_process()) {
      if (now.contains(pid) || watch->own.contains(pid)) continue;
      is_clean = false;
      const auto process = read_process(pid);
      kill_and_reap(pid);
      // Those of a worker's group were ended with it, and may only be slow.
      if (!process || before.contains(process->group)) continue;
      watch->tell(fmt::format("ended process {} ({}), which kernels of others had left behind", pid,
                              process->name));
    }
    if (is_clean) return;
  }
}

}  // namespace assay
