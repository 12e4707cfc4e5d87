#include "suites/limit_cases.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/measure/demand.h"
#include "kernels/cpu/traits.h"
#include "kernels/cuda/traits.h"
#include "kernels/ranks/traits.h"

namespace assay {
namespace {

constexpr std::int64_t mib = 1 << 20;

std::set<std::string> limits_of(const BackendTraits& backend) {
  std::set<std::string> names;
  for (const LimitCase& one : limit_cases(backend, {.last_level_cache_bytes = 32 * mib}))
    names.insert(name(one.limit));
  return names;
}

TEST(LimitCases, AreThoseThatADeviceCanHave) {
  const std::set<std::string> of_cpu = limits_of(cpu::traits());
  EXPECT_EQ(of_cpu.count("link_to_device"), 0U);
  EXPECT_EQ(of_cpu.count("matrix_tf32"), 0U);
  EXPECT_EQ(of_cpu.count("matrix_i8"), 1U);
  EXPECT_EQ(of_cpu.count("launch"), 1U);
  EXPECT_EQ(of_cpu.count("function_pow_f32"), 1U);
  const std::set<std::string> of_cuda = limits_of(cuda::traits());
  EXPECT_EQ(of_cuda.count("function_pow_f32"), 0U) << "a launch takes longer";
  for (const char* limit : {"link_to_device", "link_from_device", "matrix_tf32", "matrix_e4m3",
                            "memory_read", "memory_write", "memory_copy", "memory_triad"}) {
    EXPECT_EQ(of_cuda.count(limit), 1U) << limit;
  }
}

TEST(LimitCases, OfABackendThatTellsNoSizesAreNone) {
  EXPECT_TRUE(limits_of(ranks::traits()).empty());
}

// Keeps cases from demanding a limit that is never measured, or is measured by a case that it does
// not bound.
TEST(LimitCases, MakeDemandsOnTheLimitThatTheyMeasure) {
  for (const BackendTraits& backend : {cpu::traits(), cuda::traits()}) {
    for (const std::int64_t cache : {mib, 32 * mib, 1024 * mib}) {
      for (const LimitCase& one : limit_cases(backend, {.last_level_cache_bytes = cache})) {
        if (one.limit.resource == Resource::launch) continue;
        if (one.limit.resource == Resource::function) {
          EXPECT_LT(one.test.op.signature.bytes, 0.2 * static_cast<double>(cache)) << one.test.id();
          EXPECT_EQ(one.test.op.op->name, one.limit.function);
          continue;
        }
        const auto demands = measure::demands(one.test.op, cache);
        ASSERT_FALSE(demands.empty()) << one.test.id();
        EXPECT_EQ(demands.front().limit, one.limit) << one.test.id();
      }
    }
  }
}

TEST(LimitCases, LeaveTheCachesBehind) {
  for (const LimitCase& one : limit_cases(cpu::traits(), {.last_level_cache_bytes = 1024 * mib})) {
    if (one.limit.resource > Resource::memory_triad) continue;
    EXPECT_GE(one.test.op.params.integer("n") * 8, 4096 * mib) << name(one.limit);
  }
}

}  // namespace
}  // namespace assay
