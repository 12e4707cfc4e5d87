#include "suites/growth.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "suites/select.h"

namespace assay {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t gib = 1 << 30;

/// Ids of the default profile's cases of one op and dtype.
std::vector<std::string> ids(const std::string& filter, Growth growth,
                             const std::vector<std::string>& axes = {}) {
  std::vector<std::string> found;
  for (const Case& test : select_cases({.filter = filter, .axes = axes, .growth = growth}))
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
