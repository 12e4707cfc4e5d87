#include "kernels/ops/offers.h"

#include <gtest/gtest.h>

#include "harness/plan/case.h"

namespace assay {
namespace {

OpInstance op_of(const std::string& id) { return parse_case_id(id).op; }

const Offers some{"some", {{"add", {DType::f32, DType::f64}}, {"softmax", {DType::f32}}}};

TEST(Offers, HaveAnOpInADtype) {
  EXPECT_TRUE(some.have(op_of("tensor_ops/add/f32/n=3")));
  EXPECT_FALSE(some.have(op_of("tensor_ops/add/i32/n=3")));
  EXPECT_FALSE(some.have(op_of("tensor_ops/sub/f32/n=3")));
}

TEST(Offers, AreOfViewsOnlyIfTheySaySo) {
  const OpInstance view = op_of("views/add/f32/n=6,cols=3,view=transposed");
  EXPECT_FALSE(some.have(view));
  Offers of_views{"other", {{"add", {DType::f32}, true}}};
  EXPECT_TRUE(of_views.have(view));
  EXPECT_FALSE(common(some, of_views).have(view));
  EXPECT_TRUE(common(of_views, of_views).have(view));
}

TEST(Offers, AreNotOfCopiesCollectivesRandomNumbersOrScenarios) {
  for (const char* op : {"memcpy", "device_memcpy", "peer_memcpy", "allreduce", "random",
                         "device_query", "linear_module"}) {
    ASSERT_NE(find_op(op), nullptr) << op;
    EXPECT_FALSE(may_be_offered(*find_op(op))) << op;
  }
  for (const char* op : {"add", "linear", "sort", "batched_matmul"}) {
    EXPECT_TRUE(may_be_offered(*find_op(op))) << op;
  }
}

TEST(Offers, OfTwoAreWhatBothHave) {
  const Offers other{"other", {{"add", {DType::f64, DType::i32}}, {"sub", {DType::f32}}}};
  EXPECT_EQ(common(some, other), (Offers{"some and other", {{"add", {DType::f64}}}}));
  EXPECT_EQ(common(some, {}), some) << "a program's own kernels have all ops";
  EXPECT_EQ(common({}, other), other);
}

}  // namespace
}  // namespace assay
