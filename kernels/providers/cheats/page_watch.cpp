#include "kernels/providers/cheats/page_watch.h"

#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <utility>
#include <vector>

namespace assay::cheats {

/// The handler of the signal, and the watches that it asks.
class PageFaults {
 public:
  static void add(PageWatch* watch) {
    static const bool is_handled = [] {
      struct sigaction action {};
      action.sa_sigaction = handle;
      action.sa_flags = SA_SIGINFO | SA_NODEFER;
      return sigaction(SIGSEGV, &action, nullptr) == 0;
    }();
    if (!is_handled) return;
    const Lock lock;
    watches().push_back(watch);
  }
  static void remove(PageWatch* watch) {
    const Lock lock;
    std::erase(watches(), watch);
  }

 private:
  /// Makes other threads wait that meet the same page.
  class Lock {
   public:
    Lock() {
      while (is_locked_.exchange(true)) {
      }
    }
    ~Lock() { is_locked_ = false; }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    static inline std::atomic<bool> is_locked_ = false;
  };

  static std::vector<PageWatch*>& watches() {
    static std::vector<PageWatch*> all;
    return all;
  }
  static void handle(int /*signal*/, siginfo_t* info, void* /*context*/) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const Lock lock;
    for (PageWatch* watch : watches()) {
      if (watch->pages_.holds(address)) return watch->on_fault_(address);
    }
    std::signal(SIGSEGV, SIG_DFL);  // a mistake: the access is tried again, and ends the process
  }
};

void Pages::protect(int accesses) const {
  void* first = reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr)
  if (!is_empty()) mprotect(first, end - begin, accesses);
}

PageWatch::PageWatch(const Pages& pages, OnFault on_fault)
    : pages_(pages), on_fault_(std::move(on_fault)) {
  PageFaults::add(this);
}

PageWatch::~PageWatch() {
  pages_.protect(PROT_READ | PROT_WRITE);
  PageFaults::remove(this);
}

}  // namespace assay::cheats
