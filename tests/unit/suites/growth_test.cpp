#include "suites/growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "suites/select.h"

namespace assay {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t gib = 1 << 30;

/// Ids of a profile's cases of one op and dtype.
std::vector<std::string> ids(const std::string& filter, Growth growth,
                             const std::vector<std::string>& axes = {},
                             const std::string& profile = "default") {
  std::vector<std::string> found;
  for (const Case& test :
       select_cases({.filter = filter, .profile = profile, .axes = axes, .growth = growth}))
    found.push_back(test.id());
  return found;
}

bool has(const std::vector<std::string>& all, const std::string& id) {
  return std::ranges::find(all, id) != all.end();
}

TEST(Growth, DoublesTheLargeCasesUntilTheyExceedTheCaches) {
  // 16 Mi elements of f32 move 128 MiB; four caches of an H100 have 200 MiB.
  const Growth h100{.min_bytes = 200.0 * mib};
  const auto grown = ids("/relu/f32/", h100);
  EXPECT_TRUE(has(grown, "tensor_ops/relu/f32/n=33554432"));
  EXPECT_FALSE(has(grown, "tensor_ops/relu/f32/n=16777216"));
  EXPECT_TRUE(has(grown, "tensor_ops/relu/f32/n=65537")) << "small cases stay";
  EXPECT_TRUE(has(ids("/add/f32/", h100), "tensor_ops/add/f32/n=33554432"));
  EXPECT_TRUE(has(ids("/add/u8/", h100), "tensor_ops/add/u8/n=134217728"));
  EXPECT_TRUE(has(ids("/relu/f64/", h100), "tensor_ops/relu/f64/n=16777216")) << "enough";
  EXPECT_TRUE(has(ids("/softmax/f32/", h100), "tensor_ops/softmax/f32/rows=32768,cols=1024"));
  EXPECT_TRUE(has(ids("/transpose/u8/", h100), "tensor_ops/transpose/u8/rows=32768,cols=4096"));
  EXPECT_TRUE(
      has(ids("/gather/f32/", h100), "tensor_ops/gather/f32/rows=30522,cols=768,count=65536"));
}

TEST(Growth, TakesSortsBeyondTheCachesToo) {
  EXPECT_TRUE(has(ids("/sort/i64/", {.min_bytes = 200.0 * mib}), "tensor_ops/sort/i64/n=16777168"));
}

TEST(Growth, ContinuesSweepsThroughEverySize) {
  const auto sums = [](Growth growth, const std::string& profile) {
    const auto found =
        ids("/sum/f32/n=(16777216|33554432|67108864|134217728|268435456)$", growth, {}, profile);
    return std::set<std::string>(found.begin(), found.end());
  };
  const std::string sum = "tensor_ops/sum/f32/n=";
  const Growth b200{.min_bytes = 504.0 * mib};
  EXPECT_EQ(sums(b200, "full"),
            (std::set{sum + "16777216", sum + "33554432", sum + "67108864", sum + "134217728"}));
  EXPECT_EQ(sums({}, "full"), (std::set{sum + "16777216", sum + "33554432"}));
  EXPECT_EQ(sums(b200, "default"), (std::set{sum + "134217728"})) << "the large case alone";
}

TEST(Growth, SweepsOneOpOfEachKind) {
  const auto found = ids("/(cast|softmax|transpose)/f32/", {.min_bytes = 200.0 * mib}, {}, "full");
  for (const char* id : {"cast/f32/to=bf16,n=1024", "cast/f32/to=bf16,n=33554432",
                         "cast/f32/to=bf16,n=67108864", "softmax/f32/rows=1,cols=1024",
                         "softmax/f32/rows=32768,cols=1024", "transpose/f32/rows=32,cols=32",
                         "transpose/f32/rows=64,cols=32", "transpose/f32/rows=8192,cols=4096"}) {
    EXPECT_TRUE(has(found, std::string("tensor_ops/") + id)) << id;
  }
}

TEST(Growth, StopsBeforeTheMemoryIsFull) {
  const auto found = ids("/relu/f32/", {.min_bytes = 1.0 * gib, .max_bytes = 300.0 * mib});
  EXPECT_TRUE(has(found, "tensor_ops/relu/f32/n=33554432"));
}

TEST(Growth, LeavesSizesOfTheUserAlone) {
  for (const std::string& id : ids("/relu/f32/", {.min_bytes = 1.0 * gib}, {"n=1000"}))
    EXPECT_NE(id.find("n=1000"), std::string::npos) << id;
}

}  // namespace
}  // namespace assay
