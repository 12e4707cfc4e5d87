#include "harness/run/process_state.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cfenv>
#include <limits>
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

TEST(ProcessState, ARoundingModeIsToldAndPutBack) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    {
      const ProcessState state;
      ASSERT_EQ(std::fesetround(mode), 0);
      EXPECT_EQ(state.changed(), "left another rounding mode");
    }
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

#if defined(__SSE2__)
TEST(ProcessState, FlushedSubnormalsAreToldAndPutBack) {
  constexpr unsigned flush_to_zero = 0x8000;
  constexpr unsigned denormals_are_zero = 0x0040;
  const unsigned control = _mm_getcsr();
  for (const unsigned bit : {flush_to_zero, denormals_are_zero}) {
    {
      const ProcessState state;
      _mm_setcsr(control | bit);
      EXPECT_EQ(state.changed(), "left subnormal numbers flushed to zero") << bit;
    }
    EXPECT_EQ(_mm_getcsr() & bit, 0U);
  }
}
#endif

}  // namespace
}  // namespace assay
