// A child process that counts, and one that it has started: neither may count while it stands
// still.
#include "kernels/remote/standstill.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace assay::remote {
namespace {

struct Counts {
  std::atomic<long> child{0};
  std::atomic<long> grandchild{0};
};

[[noreturn]] void count(std::atomic<long>& counter) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    ++counter;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

class Standstills : public testing::Test {
 protected:
  Standstills()
      : counts_(*new (mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Counts),
        child_(fork()) {
    if (child_ != 0) return;
    if (fork() == 0) count(counts_.grandchild);
    count(counts_.child);
  }
  ~Standstills() override {
    kill(child_, SIGCONT);
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(&counts_, sizeof(Counts));
  }
  static void wait_for_more(const std::atomic<long>& counter) {
    for (const long before = counter; counter == before;) std::this_thread::yield();
  }
  void wait_for_both() const {
    wait_for_more(counts_.child);
    wait_for_more(counts_.grandchild);
  }

  Counts& counts_;
  pid_t child_;
};

TEST_F(Standstills, HoldAChildAndWhatItHasStarted) {
  wait_for_both();
  Standstill standstill;
  ASSERT_TRUE(standstill.begin(child_));
  const long child = counts_.child;
  const long grandchild = counts_.grandchild;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(counts_.child, child);
  EXPECT_EQ(counts_.grandchild, grandchild);
  standstill.end();
  wait_for_both();
  EXPECT_TRUE(standstill.begin(child_)) << "a second time";
  standstill.end();
}

TEST_F(Standstills, AreNoneOfAnEndedChild) {
  kill(child_, SIGKILL);
  siginfo_t seen{};
  waitid(P_PID, static_cast<id_t>(child_), &seen, WEXITED | WNOWAIT);
  EXPECT_FALSE(Standstill().begin(child_));
}

TEST(Standstill, HoldsNoProcessThatIsNoChild) { EXPECT_FALSE(Standstill().begin(getpid())); }

}  // namespace
}  // namespace assay::remote
