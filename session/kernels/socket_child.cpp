#include "session/kernels/socket_child.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "kernels/core/clock.h"
#include "kernels/cpu/all_cores.h"

namespace assay {
namespace {

/// Time limit for a process to end that has closed its socket, or whose judge has.
constexpr double end_s = 2;

}  // namespace

std::optional<int> SocketChild::wait_for_end() {
  if (is_reaped_) return status_;
  int status = 0;
  pid_t ended = 0;
  for (const Deadline deadline = after(end_s); ended == 0;) {
    ended = waitpid(pid_, &status, WNOHANG);
    if (ended != 0 || std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ended == pid_) status_ = status;
  if (ended == 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  is_reaped_ = true;
  return status_;
}

std::string SocketChild::how_it_ended() {
  const std::optional<int> status = wait_for_end();
  if (!status) return "closed its descriptors";
  if (!WIFSIGNALED(*status)) return fmt::format("ended with exit code {}", WEXITSTATUS(*status));
  const int signal = WTERMSIG(*status);
  return fmt::format("was ended by signal {} ({})", signal, strsignal(signal));
}

StartedChild start_with_socket(const std::function<ChildCommand(int socket)>& command_for) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  FileDescriptor own(ends[0]);
  FileDescriptor other(ends[1]);  // closed at the end, or its own end would not show
  cpu::use_all_cores();           // or the child would inherit the one core of this thread
  auto child = std::make_shared<SocketChild>(start_child(command_for(other.get())));
  return {std::move(child), std::move(own)};
}

}  // namespace assay
