#include "kernels/device/process_state.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <pthread.h>

#include <cfenv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <limits>
#include <thread>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace assay {
namespace {

TEST(ProcessState, OfAnUntouchedProcessIsUnchanged) {
  const ProcessState state;
  EXPECT_EQ(state.changed(), std::nullopt);
}

TEST(ProcessState, ExceptionsThatWereRaisedAreNoChange) {
  const ProcessState state;
  volatile double zero = 0;
  volatile double infinity = 1 / zero;
  EXPECT_GT(infinity, 0);
  EXPECT_EQ(state.changed(), std::nullopt);
}

TEST(ProcessState, ANumberOfThreadsIsToldAndPutBack) {
  const int threads = omp_get_max_threads();
  {
    const ProcessState state;
    omp_set_num_threads(threads + 2);
    ASSERT_TRUE(state.changed());
    EXPECT_NE(state.changed()->find(std::to_string(threads + 2)), std::string::npos);
  }
  EXPECT_EQ(omp_get_max_threads(), threads);
}

TEST(ProcessState, ATeamThatMayBeSmallerIsToldAndPutBack) {
  {
    const ProcessState state;
    omp_set_dynamic(1);
    EXPECT_EQ(state.changed(), "leaves OpenMP free to take fewer threads");
  }
  EXPECT_EQ(omp_get_dynamic(), 0);
}

/// omp_get_max_threads() does not show this change.
TEST(ProcessState, ATeamThatIsSmallerIsToldAndPutBack) {
  const int threads = omp_get_max_threads();
  const int levels = omp_get_max_active_levels();
  omp_set_num_threads(2);
  {
    const ProcessState state;
    omp_set_max_active_levels(0);
    EXPECT_EQ(state.changed(), "leaves parallel regions with 1 thread, not 2");
  }
  EXPECT_EQ(omp_get_max_active_levels(), levels);
  omp_set_num_threads(threads);
}

TEST(ProcessState, ARoundingModeIsToldAndPutBack) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    {
      const ProcessState state;
      ASSERT_EQ(std::fesetround(mode), 0);
      EXPECT_EQ(state.changed(), "leaves another rounding mode than to nearest in 1 thread");
    }
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

#if defined(__SSE2__)
constexpr unsigned flush_to_zero = 0x8000;
constexpr unsigned denormals_are_zero = 0x0040;

/// fegetround() reads the x87, which no current library touches.
TEST(ProcessState, ARoundingModeOfVectorsAloneIsToldAndPutBack) {
  const unsigned control = _mm_getcsr();
  for (const unsigned mode : {_MM_ROUND_UP, _MM_ROUND_DOWN, _MM_ROUND_TOWARD_ZERO}) {
    {
      const ProcessState state;
      _MM_SET_ROUNDING_MODE(mode);
      ASSERT_EQ(std::fegetround(), FE_TONEAREST);
      EXPECT_EQ(state.changed(), "leaves another rounding mode than to nearest in 1 thread");
    }
    EXPECT_EQ(_MM_GET_ROUNDING_MODE(), unsigned{_MM_ROUND_NEAREST});
  }
  EXPECT_EQ(_mm_getcsr() & ~0x3fU, control & ~0x3fU) << "but for exceptions that were raised";
}

TEST(ProcessState, FlushedSubnormalsAreToldAndPutBack) {
  for (const unsigned bit : {flush_to_zero, denormals_are_zero}) {
    {
      const ProcessState state;
      _mm_setcsr(_mm_getcsr() | bit);
      EXPECT_EQ(state.changed(), "leaves subnormal numbers flushed to zero in 1 thread") << bit;
    }
    EXPECT_EQ(_mm_getcsr() & bit, 0U);
  }
}

/// A library restored its caller's thread, and forgot its team.
TEST(ProcessState, AnotherThreadOfTheTeamIsAskedAndPutRightToo) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(2);
  {
    const ProcessState state;
#pragma omp parallel
    if (omp_get_thread_num() == 1) _mm_setcsr(_mm_getcsr() | flush_to_zero);
    EXPECT_EQ(_mm_getcsr() & flush_to_zero, 0U);
    EXPECT_EQ(state.changed(), "leaves subnormal numbers flushed to zero in 1 thread");
  }
  const ProcessState after;
  EXPECT_EQ(after.changed(), std::nullopt);
  omp_set_num_threads(threads);
}

/// Time that the second thread of the team has run.
class TimeOfSecondThread {
 public:
  TimeOfSecondThread() {
#pragma omp parallel
    if (omp_get_thread_num() == 1) pthread_getcpuclockid(pthread_self(), &clock_);
  }
  std::int64_t ns() const {
    timespec time{};
    EXPECT_EQ(clock_gettime(clock_, &time), 0);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  /// Waits until it sleeps.
  std::int64_t asleep_ns() const {
    for (std::int64_t before = -1;;) {
      const std::int64_t now = ns();
      if (now == before) return now;
      before = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

 private:
  clockid_t clock_{};
};

TEST(ProcessState, ThreadsThatDidNotRunSinceItWasFoundUnchangedAreNotAsked) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(2);
  {
    ProcessState state;
    state.watch();
    EXPECT_EQ(state.changed(), std::nullopt) << "asks: nobody has found it unchanged yet";
    const TimeOfSecondThread second;
    const std::int64_t before_ns = second.asleep_ns();
    state.watch();
    EXPECT_EQ(state.changed(), std::nullopt);
    EXPECT_EQ(state.changed(), std::nullopt) << "and nothing could change it since";
    state.watch();
    _mm_setcsr(_mm_getcsr() | flush_to_zero);
    EXPECT_EQ(state.changed(), "leaves subnormal numbers flushed to zero in 1 thread");
    _mm_setcsr(_mm_getcsr() & ~flush_to_zero);
    EXPECT_EQ(second.ns(), before_ns) << "it was woken";

    EXPECT_EQ(state.changed(), std::nullopt);
    state.watch();
#pragma omp parallel
    if (omp_get_thread_num() == 1) _mm_setcsr(_mm_getcsr() | flush_to_zero);
    state.watch();  // of the next launch: what the one before did is not known yet
    EXPECT_EQ(state.changed(), "leaves subnormal numbers flushed to zero in 1 thread");
    state.watch();
    EXPECT_TRUE(state.changed()) << "nobody put it right";
  }
  omp_set_num_threads(threads);
}

TEST(ProcessState, WhatWasFlushedFromTheBeginningIsNoRightBeginning) {
  const unsigned control = _mm_getcsr();
  _mm_setcsr(control | flush_to_zero);
  {
    const ProcessState state;
    EXPECT_TRUE(state.changed());
  }
  EXPECT_NE(_mm_getcsr() & flush_to_zero, 0U) << "but it is left as it was";
#pragma omp parallel
  _mm_setcsr(control);
}
#endif

// A compiler may set handlers in the first launch on a GPU. In host memory they could watch pages.
TEST(ProcessState, OfOthersHasHandlersOfSignalsOnlyWhereTheyCouldWatchMemory) {
  const ProcessState in_host_memory(ProcessState::Process::of_others);
  const ProcessState on_gpu(ProcessState::Process::of_others_on_gpu);
  void (*const before)(int) = std::signal(SIGUSR2, [](int) {});
  const auto seen = in_host_memory.changed();
  const auto allowed = on_gpu.changed();
  std::signal(SIGUSR2, before);
  EXPECT_NE(seen.value_or("").find("another handler of signal 12"), std::string::npos);
  EXPECT_EQ(allowed, std::nullopt);
}

}  // namespace
}  // namespace assay
