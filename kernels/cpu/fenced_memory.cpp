#include "kernels/cpu/fenced_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/core/status.h"

namespace assay::cpu {
namespace {

/// Kernels overrun by rows of tiles.
constexpr std::size_t fence_bytes = std::size_t{1} << 20;

/// First addresses of fences, for a signal handler: atomic words of a fixed number. Fences beyond
/// it stop a process all the same, without a word.
constexpr std::size_t slots = 64;
std::array<std::atomic<std::uintptr_t>, slots> fences{};

struct sigaction others_action {};

/// Says what happened, then lets the fault happen again, with the action that was there before.
void tell_of_fence(int signal, siginfo_t* info, void* /*context*/) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const auto& fence : fences) {
    const std::uintptr_t begin = fence.load(std::memory_order_relaxed);
    if (begin == 0 || at < begin || at - begin >= fence_bytes) continue;
    constexpr std::string_view text =
        "an access past the end of an input, whose tensor ends where memory ends\n";
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) break;
    break;
  }
  sigaction(signal, &others_action, nullptr);
  if (info->si_code <= 0) raise(signal);  // somebody sent it: it does not come back by itself
}

void tell_of_fences() {
  [[maybe_unused]] static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = tell_of_fence;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &others_action) == 0;
  }();
}

std::size_t keep(std::uintptr_t fence) {
  for (std::size_t slot = 0; slot < slots; ++slot) {
    std::uintptr_t empty = 0;
    if (fences[slot].compare_exchange_strong(empty, fence)) return slot;
  }
  return slots;
}

}  // namespace

FencedMemory::FencedMemory(std::size_t bytes) {
  tell_of_fences();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t usable = (bytes + page - 1) / page * page;
  reserved_bytes_ = usable + fence_bytes;
  const auto fail = [&] {
    throw DeviceError(Failure::out_of_memory,
                      "cpu: no memory for " + std::to_string(bytes) + " bytes before a fence");
  };
  reserved_ =
      mmap(nullptr, reserved_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved_ == MAP_FAILED) fail();
  if (usable > 0 && mprotect(reserved_, usable, PROT_READ | PROT_WRITE) != 0) {
    munmap(reserved_, reserved_bytes_);
    fail();
  }
  data_ = static_cast<std::byte*>(reserved_) + (usable - bytes);
  slot_ = keep(reinterpret_cast<std::uintptr_t>(reserved_) + usable);
}

FencedMemory::~FencedMemory() {
  if (slot_ < slots) fences[slot_] = 0;
  munmap(reserved_, reserved_bytes_);
}

}  // namespace assay::cpu
