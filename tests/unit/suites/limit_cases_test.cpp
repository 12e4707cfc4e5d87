#include "suites/limit_cases.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/measure/demand.h"

namespace assay {
namespace {

constexpr std::int64_t mib = 1 << 20;

std::set<std::string> limits_of(std::string_view backend) {
  std::set<std::string> names;
  for (const LimitCase& one : limit_cases(backend, 32 * mib)) names.insert(one.limit);
  return names;
}

TEST(LimitCases, AreThoseThatADeviceCanHave) {
  const std::set<std::string> cpu = limits_of("cpu");
  EXPECT_EQ(cpu.count("link_to_device"), 0U);
  EXPECT_EQ(cpu.count("matrix_tf32"), 0U);
  EXPECT_EQ(cpu.count("matrix_i8"), 1U);
  EXPECT_EQ(cpu.count("launch"), 1U);
  const std::set<std::string> cuda = limits_of("cuda");
  for (const char* limit : {"link_to_device", "link_from_device", "matrix_tf32", "matrix_e4m3",
                            "memory_read", "memory_write", "memory_copy", "memory_triad"}) {
    EXPECT_EQ(cuda.count(limit), 1U) << limit;
  }
}

// Or a limit would be asked for that is never measured, or measured by what it does not bound.
TEST(LimitCases, MakeDemandsOnTheLimitThatTheyMeasure) {
  for (const char* backend : {"cpu", "cuda"}) {
    for (const std::int64_t cache : {mib, 32 * mib, 1024 * mib}) {
      for (const LimitCase& one : limit_cases(backend, cache)) {
        if (one.limit == "launch") continue;
        const auto demands = measure::demands(one.test.op, cache);
        ASSERT_FALSE(demands.empty()) << one.test.id();
        EXPECT_EQ(demands.front().limit, one.limit) << one.test.id();
      }
    }
  }
}

TEST(LimitCases, LeaveTheCachesBehind) {
  for (const LimitCase& one : limit_cases("cpu", 1024 * mib)) {
    if (!one.limit.starts_with("memory_")) continue;
    EXPECT_GE(one.test.op.params.integer("n") * 8, 4096 * mib) << one.limit;
  }
}

}  // namespace
}  // namespace assay
