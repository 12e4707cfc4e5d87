#include "emulator/runtime/host_access.h"

#include <fmt/format.h>

#include <atomic>
#include <csignal>

#include "emulator/runtime/say.h"

namespace emulator {
namespace {

std::atomic<const Memory*> memory_of_gpus{nullptr};
struct sigaction before;

/// The access is done again after it, and meets the handler that was there before. Nothing but the
/// text is left to do, so that it may allocate.
void explain(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const Memory& memory = *memory_of_gpus;
  if (memory.is_device_address(address))
    say(fmt::format("the host uses {} at {:#x}{}: it is {}",
                    memory.is_managed_address(address) ? "managed memory" : "memory of a GPU",
                    address, memory.is_managed_address(address) ? "" : ", without a copy",
                    memory.describe(address)));
  sigaction(SIGSEGV, &before, nullptr);
}

}  // namespace

void explain_host_accesses(const Memory& memory) {
  if (memory_of_gpus.exchange(&memory) != nullptr) return;
  struct sigaction action = {};
  action.sa_sigaction = explain;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
}

}  // namespace emulator
