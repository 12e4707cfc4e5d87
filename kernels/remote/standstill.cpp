#include "kernels/remote/standstill.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "kernels/core/child_processes.h"
#include "kernels/core/status.h"

namespace assay::remote {
namespace {

namespace fs = std::filesystem;

/// A child of a child stands still without a word to this process, so it is looked at again and
/// again. One that takes longer than this, on a busy machine too, has somebody who wakes it.
constexpr auto max_wait = std::chrono::seconds(10);
constexpr auto between_looks = std::chrono::microseconds(20);

fs::path folder_of(pid_t process) { return fs::path("/proc") / std::to_string(process); }

char state_of(pid_t process) {
  std::ifstream file(folder_of(process) / "stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t end = stat.rfind(") ");  // the name may hold anything
  return end == std::string::npos ? 'X' : stat[end + 2];
}

bool stands_still(pid_t process) {
  const char state = state_of(process);
  return state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

/// Waits until all threads of a child stand still; false if it has ended, which is somebody else's
/// to hear of.
bool stop_child(pid_t child) {
  siginfo_t seen{};
  const auto id = static_cast<id_t>(child);
  // Only of a child is heard that it stands still.
  if (waitid(P_PID, id, &seen, WEXITED | WNOHANG | WNOWAIT) != 0) return false;
  if (kill(child, SIGSTOP) != 0) return false;
  while (waitid(P_PID, id, &seen, WSTOPPED | WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return false;
  }
  if (seen.si_code != CLD_STOPPED && seen.si_code != CLD_TRAPPED) return false;
  waitid(P_PID, id, &seen, WSTOPPED | WNOHANG);
  return true;
}

}  // namespace

bool Standstill::begin(pid_t child) {
  stopped_.clear();
  const auto deadline = std::chrono::steady_clock::now() + max_wait;
  do {
    if (stopped_.empty() || !stands_still(child)) {
      if (!stop_child(child)) return false;
    }
    if (stopped_.empty()) stopped_.push_back(child);
    // One that asks for it is a child of this process.
    std::vector<pid_t> found{child};
    for (const pid_t own : children_of(getpid())) {
      if (own != child) found.push_back(own);
    }
    bool all_stand = true;
    for (const pid_t one : with_descendants(std::move(found))) {
      if (stands_still(one)) continue;
      all_stand = false;
      kill(one, SIGSTOP);
      if (std::ranges::find(stopped_, one) == stopped_.end()) stopped_.push_back(one);
    }
    if (all_stand) return true;
    std::this_thread::sleep_for(between_looks);
  } while (std::chrono::steady_clock::now() < deadline);
  end();
  throw DeviceError(Failure::internal,
                    "the kernels' process does not stand still: something wakes it");
}

void Standstill::end() {
  for (const pid_t process : std::exchange(stopped_, {})) kill(process, SIGCONT);
}

}  // namespace assay::remote
