// What a kernel does to its process, to the judge's, and to what is around them.
#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/providers/cheats/trick.h"

namespace assay::cheats {
namespace {

void exits(const Problem& /*p*/, const Launch& /*l*/) { std::exit(0); }

void hangs(const Problem& /*p*/, const Launch& /*l*/) {
  for (;;) pause();
}

void garbage_everywhere(const Problem& p, const Launch& l) {
  compute(p, l);
  for (int fd = 0; fd < 64; ++fd) {
    if (write(fd, "\n{\"type\":\"result\"}\n", 19) < 0) continue;  // most are not open
  }
}

void takes_all_memory(const Problem& /*p*/, const Launch& /*l*/) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  for (;;) {
    void* more = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) throw std::bad_alloc();
  }
}

void rounds_up(const Problem& p, const Launch& l) {
  compute(p, l);
  std::fesetround(FE_UPWARD);
}

void flushes_subnormals(const Problem& p, const Launch& l) {
  compute(p, l);
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // results and operands
#endif
}

void leaves_one_thread(const Problem& p, const Launch& l) {
  compute(p, l);
  omp_set_num_threads(1);
}

void blocks_signals(const Problem& p, const Launch& l) {
  compute(p, l);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
}

/// Gives the judge what is left of the processors.
void lowers_the_judge(const Problem& p, const Launch& l) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(getppid()), 19);
  compute(p, l);
}

/// Keeps the judge's process on the first of its processors.
void pins_the_judge(const Problem& p, const Launch& l) {
  cpu_set_t allowed;
  if (sched_getaffinity(getppid(), sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 1) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      CPU_ZERO(&allowed);
      CPU_SET(cpu, &allowed);
      break;
    }
    sched_setaffinity(getppid(), sizeof allowed, &allowed);
  }
  compute(p, l);
}

/// Leaves a process behind that outlives it, if nobody ends it.
void leaves_a_process(const Problem& p, const Launch& l) {
  static bool is_left = false;
  if (!std::exchange(is_left, true) && fork() == 0) {
    setsid();
    alarm(60);  // an end for the case that nobody brings one
    for (int fd = 0; fd < 64; ++fd) close(fd);
    for (;;) pause();
  }
  compute(p, l);
}

/// Leaves a thread that computes for ever beside whatever is timed next.
void leaves_a_busy_thread(const Problem& p, const Launch& l) {
  static bool is_left = false;
  if (!std::exchange(is_left, true)) {
    std::thread([] {
      for (volatile double x = 0;;) x = x + 1;
    }).detach();
  }
  compute(p, l);
}

/// Leaks a MiB in each launch, 2 GiB in all.
class Leaks final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    constexpr std::size_t bytes = std::size_t{1} << 20;
    static int leaked = 0;
    if (leaked++ < 2048) std::memset(::operator new(bytes), 1, bytes);
    compute(p, l);
  }
};

constexpr auto honest = [](const Problem& p, const Launch& l) { compute(p, l); };

constexpr Entry entries[] = {
    {"exits", make_of<exits>},
    {"hangs", make_of<hangs>},
    {"garbage_everywhere", make_of<garbage_everywhere>},
    {"takes_all_memory", make_of<takes_all_memory>},
    {"rounds_up", make_of<rounds_up>},
    {"flushes_subnormals", make_of<flushes_subnormals>},
    {"leaves_one_thread", make_of<leaves_one_thread>},
    {"blocks_signals", make_of<blocks_signals>},
    {"lowers_the_judge", make_of<lowers_the_judge>},
    {"pins_the_judge", make_of<pins_the_judge>},
    {"leaves_a_process", make_of<leaves_a_process>},
    {"leaves_a_busy_thread", make_of<leaves_a_busy_thread>},
    {"leaks", make<Leaks>},
    // Tricks of the library's constructor.
    {"hangs_at_load", make_of<honest>},
    {"exits_at_load", make_of<honest>},
    {"closes_descriptors_at_load", make_of<honest>},
};

/// Runs when the library is opened, before anybody has asked it for kernels.
[[gnu::constructor]] void at_load() {
  const char* text = std::getenv("ASSAY_CHEAT");
  const std::string_view trick = text == nullptr ? "" : text;
  if (trick == "hangs_at_load") {
    alarm(120);  // an end for the case that nobody brings one
    for (;;) pause();
  }
  if (trick == "exits_at_load") _exit(0);
  if (trick == "closes_descriptors_at_load") {
    for (int fd = 0; fd < 64; ++fd) close(fd);
  }
}

}  // namespace

std::span<const Entry> process_tricks() { return entries; }

}  // namespace assay::cheats
