// References of ops that lay elements out anew, on numbers worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/core/status.h"
#include "kernels/reference/reference.h"

namespace assay::reference {
namespace {

using Row = std::vector<float>;

OpInstance op_of(const std::string& id) { return parse_case_id("tensor_ops/" + id).op; }

/// Results of the reference of a case of f32 from element `first` on.
Row expected(const std::string& id, const std::vector<Row>& inputs, std::int64_t first = 0) {
  const OpInstance op = op_of(id);
  std::vector<std::vector<HostTensor>> tensors(1);
  for (const Row& input : inputs) {
    HostTensor& tensor = tensors[0].emplace_back(op.signature.inputs.at(tensors[0].size()));
    EXPECT_EQ(static_cast<std::int64_t>(input.size()), tensor.spec().elements());
    std::ranges::copy(input, tensor.as<float>().begin());
  }
  Row y(static_cast<std::size_t>(op.signature.outputs[0].elements() - first));
  find(op).bits({op, tensors}, {}, first, std::as_writable_bytes(std::span(y)));
  return y;
}

const Row eight{1, 2, 3, 4, 5, 6, 7, 8};

TEST(Concat, LaysOneBehindTheOther) {
  EXPECT_EQ(expected("concat/f32/outer=1,n=3,inner=1,m=2", {{1, 2, 3}, {4, 5}}),
            (Row{1, 2, 3, 4, 5}));
  EXPECT_EQ(expected("concat/f32/outer=2,n=2,inner=1,m=1", {{1, 2, 3, 4}, {8, 9}}),
            (Row{1, 2, 8, 3, 4, 9}));
  EXPECT_EQ(expected("concat/f32/outer=2,n=2,inner=2,m=1", {eight, {-1, -2, -3, -4}}),
            (Row{1, 2, 3, 4, -1, -2, 5, 6, 7, 8, -3, -4}));
  EXPECT_EQ(expected("concat/f32/outer=2,n=2,inner=2,m=1", {eight, {-1, -2, -3, -4}}, 5),
            (Row{-2, 5, 6, 7, 8, -3, -4}));
}

TEST(Concat, TakesEmptyOperands) {
  EXPECT_EQ(expected("concat/f32/outer=2,n=0,inner=2,m=1", {{}, {1, 2, 3, 4}}), (Row{1, 2, 3, 4}));
  EXPECT_EQ(expected("concat/f32/outer=2,n=1,inner=2,m=0", {{1, 2, 3, 4}, {}}), (Row{1, 2, 3, 4}));
  EXPECT_EQ(expected("concat/f32/outer=2,n=0,inner=2,m=0", {{}, {}}), Row{});
}

TEST(Slice, TakesEachStep) {
  EXPECT_EQ(expected("slice/f32/outer=1,n=8,inner=1,start=1,count=3,step=2", {eight}),
            (Row{2, 4, 6}));
  EXPECT_EQ(expected("slice/f32/outer=2,n=4,inner=1,start=1,count=2,step=2", {eight}),
            (Row{2, 4, 6, 8}));
  EXPECT_EQ(expected("slice/f32/outer=2,n=2,inner=2,start=1,count=1,step=5", {eight}),
            (Row{3, 4, 7, 8}));
  EXPECT_EQ(expected("slice/f32/outer=1,n=4,inner=2,start=1,count=2,step=1", {eight}, 1),
            (Row{4, 5, 6}));
  EXPECT_EQ(expected("slice/f32/outer=1,n=4,inner=2,start=4,count=0,step=1", {eight}), Row{});
}

TEST(Slice, IsRefusedWhereItDoesNotFit) {
  for (const char* taken :
       {"start=3,count=2,step=1", "start=0,count=3,step=2", "start=4,count=1,step=1",
        "start=5,count=0,step=1", "start=1,count=17592186044416,step=17592186044416"}) {
    EXPECT_THROW(op_of("slice/f32/outer=1,n=4,inner=2," + std::string(taken)), UsageError) << taken;
  }
  EXPECT_THROW(op_of("slice/f32/outer=1,n=4,inner=2,start=0,count=1,step=0"), UsageError);
}

TEST(Pad, IsOneNumberAround) {
  EXPECT_EQ(expected("pad/f32/outer=1,n=2,inner=1,before=2,after=1", {{1, 2}, {9}}),
            (Row{9, 9, 1, 2, 9}));
  EXPECT_EQ(expected("pad/f32/outer=2,n=1,inner=2,before=1,after=0", {{1, 2, 3, 4}, {9}}),
            (Row{9, 9, 1, 2, 9, 9, 3, 4}));
  EXPECT_EQ(expected("pad/f32/outer=2,n=1,inner=2,before=0,after=1", {{1, 2, 3, 4}, {9}}, 1),
            (Row{2, 9, 9, 3, 4, 9, 9}));
  EXPECT_EQ(expected("pad/f32/outer=1,n=0,inner=2,before=1,after=1", {{}, {9}}), (Row{9, 9, 9, 9}));
}

TEST(Flip, TurnsTheMiddleExtentAlone) {
  EXPECT_EQ(expected("flip/f32/outer=1,n=8,inner=1", {eight}), (Row{8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(expected("flip/f32/outer=2,n=4,inner=1", {eight}), (Row{4, 3, 2, 1, 8, 7, 6, 5}));
  EXPECT_EQ(expected("flip/f32/outer=2,n=2,inner=2", {eight}, 3), (Row{2, 7, 8, 5, 6}));
}

TEST(Repeat, IsOfTheWholeExtentAndNotOfEachElement) {
  EXPECT_EQ(expected("repeat/f32/outer=1,n=2,inner=1,times=3", {{1, 2}}), (Row{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(expected("repeat/f32/outer=2,n=1,inner=2,times=2", {{1, 2, 3, 4}}),
            (Row{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(expected("repeat/f32/outer=1,n=2,inner=2,times=2", {{1, 2, 3, 4}}, 3),
            (Row{4, 1, 2, 3, 4}));
}

TEST(Pieces, TellWhatIsMovedAndWhatIsRightByDefinition) {
  EXPECT_EQ(op_of("concat/f16/outer=2,n=3,inner=5,m=4").signature.bytes, 2 * 140);
  EXPECT_EQ(op_of("slice/f16/outer=2,n=9,inner=5,start=0,count=3,step=1").signature.bytes, 2 * 60)
      << "elements taken alone";
  EXPECT_EQ(op_of("pad/u8/outer=2,n=3,inner=5,before=1,after=0").signature.bytes, 30 + 1 + 40);
  EXPECT_EQ(op_of("repeat/u8/outer=2,n=3,inner=5,times=3").signature.bytes, 30 + 90);
  const auto is_copy = [](const char* id) { return op_of(id).signature.is_copy; };
  for (const char* id :
       {"concat/f32/outer=2,n=3,inner=5,m=0",
        "slice/f32/outer=2,n=3,inner=5,start=0,count=3,step=1",
        "pad/f32/outer=2,n=3,inner=5,before=0,after=0", "flip/f32/outer=2,n=1,inner=5",
        "repeat/f32/outer=2,n=3,inner=5,times=1"}) {
    EXPECT_TRUE(is_copy(id)) << id;
  }
  for (const char* id :
       {"concat/f32/outer=2,n=3,inner=5,m=1",
        "slice/f32/outer=2,n=3,inner=5,start=0,count=2,step=1",
        "pad/f32/outer=2,n=3,inner=5,before=0,after=1", "flip/f32/outer=2,n=2,inner=5",
        "repeat/f32/outer=2,n=3,inner=5,times=2"}) {
    EXPECT_FALSE(is_copy(id)) << id;
  }
  EXPECT_TRUE(op_of("pad/f32/outer=2,n=0,inner=5,before=1,after=1").signature.is_constant);
  EXPECT_TRUE(op_of("repeat/f32/outer=1,n=1,inner=1,times=99").signature.is_constant);
  EXPECT_FALSE(op_of("repeat/f32/outer=2,n=1,inner=1,times=99").signature.is_constant);
}

}  // namespace
}  // namespace assay::reference
