#include "session/process/interrupt.h"

#include <atomic>
#include <csignal>

namespace assay {
namespace {

std::atomic<int> signal_received{0};
static_assert(std::atomic<int>::is_always_lock_free);  // for the handler

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { signal_received = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction inherited {};
    sigaction(signal, nullptr, &inherited);
    const bool is_nohup = signal == SIGHUP && inherited.sa_handler == SIG_IGN;
    if (!is_nohup) sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return signal_received != 0; }

int interrupting_signal() { return signal_received; }

}  // namespace assay
