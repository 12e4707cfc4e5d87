// References of elementwise ops with a repeated operand, on numbers worked out by hand.
#include "kernels/ops/broadcast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/reference/reference.h"

namespace assay::reference {
namespace {

template <class T>
using Row = std::vector<T>;

/// Results of the reference of a case from element `first` on.
template <class Y, class A, class B>
Row<Y> expected(const std::string& id, const Row<A>& a, const Row<B>& b, std::int64_t first = 0) {
  const OpInstance op = parse_case_id("tensor_ops/" + id).op;
  std::vector<std::vector<HostTensor>> tensors(1);
  const auto add = [&]<class T>(const Row<T>& input) {
    HostTensor& tensor = tensors[0].emplace_back(op.signature.inputs.at(tensors[0].size()));
    EXPECT_EQ(static_cast<std::int64_t>(input.size()), tensor.spec().elements());
    std::ranges::copy(input, tensor.as<T>().begin());
  };
  add(a);
  add(b);
  if (op.signature.inputs.size() == 3) add(b);
  Row<Y> y(static_cast<std::size_t>(op.signature.outputs[0].elements() - first));
  find(op).bits({op, tensors}, {}, first, std::as_writable_bytes(std::span(y)));
  return y;
}

TEST(RepeatedOperands, AreScalarsRowsColumnsAndInTheMiddle) {
  const Row<float> x{1, 2, 3, 4, 5, 6};
  const auto sums = [&](const std::string& extents, const Row<float>& repeated) {
    return expected<float>("add_broadcast/f32/" + extents + ",repeat=b", x, repeated);
  };
  EXPECT_EQ(sums("outer=1,n=6,inner=1", {10}), (Row<float>{11, 12, 13, 14, 15, 16}));
  EXPECT_EQ(sums("outer=1,n=2,inner=3", {10, 20, 30}), (Row<float>{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ(sums("outer=2,n=3,inner=1", {10, 20}), (Row<float>{11, 12, 13, 24, 25, 26}));
  const Row<float> twelve{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ((expected<float, float, float>("sub_broadcast/f32/outer=2,n=3,inner=2,repeat=b", twelve,
                                           {1, 2, 3, 4})),
            (Row<float>{0, 0, 2, 2, 4, 4, 4, 4, 6, 6, 8, 8}));
  EXPECT_EQ((expected<float, float, float>("sub_broadcast/f32/outer=2,n=3,inner=2,repeat=b", twelve,
                                           {1, 2, 3, 4}, 7)),
            (Row<float>{4, 6, 6, 8, 8}));
}

TEST(RepeatedOperands, AreAnyOne) {
  EXPECT_EQ((expected<float, float, float>("sub_broadcast/f32/outer=1,n=2,inner=2,repeat=a", {9, 8},
                                           {1, 2, 3, 4})),
            (Row<float>{8, 6, 6, 4}));
  EXPECT_EQ((expected<std::uint8_t, std::int32_t, std::int32_t>(
                "less_broadcast/i32/outer=2,n=2,inner=1,repeat=a", {1, 3}, {1, 2, 3, 4})),
            (Row<std::uint8_t>{0, 1, 0, 1}));
  EXPECT_EQ((expected<std::int32_t, std::uint8_t, std::int32_t>(
                "where_broadcast/i32/outer=2,n=2,inner=1,repeat=mask", {0, 7}, {1, 2, 3, 4})),
            (Row<std::int32_t>{1, 2, 3, 4}));
}

TEST(RepeatedOperands, BelongToOpsOfTheTable) {
  EXPECT_EQ(base_of_broadcast("max_broadcast"), "max");
  EXPECT_THROW(base_of_broadcast("max"), std::logic_error);
  const OpInstance op =
      parse_case_id("tensor_ops/where_broadcast/f16/outer=2,n=3,inner=5,repeat=a").op;
  EXPECT_EQ(op.signature.inputs[0].dtype, DType::u8);
  EXPECT_EQ(op.signature.inputs[0].shape, (Shape{2, 3, 5}));
  EXPECT_EQ(op.signature.inputs[1].shape, (Shape{2, 5}));
  EXPECT_EQ(op.signature.bytes, 30 + 2 * (10 + 30 + 30));
}

}  // namespace
}  // namespace assay::reference
